import { useState, type SyntheticEvent } from "react";

import { signIn } from "../api/session";
import { useVerb } from "../conversation/useVerb";
import { Button, Logo, Quoted } from "../parts";
import { credentialOf } from "./credential";

/** The session has ended, or there never was one. The address stays, so that one lands where one wanted to go. */
export function SignIn({ problem = "" }: { problem?: string }) {
  const [typed, setTyped] = useState("");
  const { run, busy, error } = useVerb();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const credential = credentialOf(typed);
    if (credential) void run(() => signIn(credential));
  };
  return (
    <main className="sign-in">
      <form className="panel" onSubmit={submit}>
        <div className="panel-head">
          <Logo />
          <h1>Sign in to Windlass</h1>
          <span className="grow" />
          <span className="dim num">{location.host}</span>
        </div>
        <div className="panel-body">
          <p>
            Open the link that <code className="mono">windlass serve</code> prints, or enter an access token.{" "}
            <code className="mono">windlass token</code> shows it.
          </p>
          <label className="field">
            <span className="label">Access token</span>
            <input
              className="input mono"
              type="password"
              autoComplete="current-password"
              autoFocus
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </label>
          {(error || problem) && (
            <p className="bad" role="alert">
              <Quoted text={error || problem} />
            </p>
          )}
          <div className="panel-foot">
            <Button type="submit" look="primary" disabled={busy || !credentialOf(typed)}>
              Sign in
            </Button>
          </div>
        </div>
      </form>
    </main>
  );
}
