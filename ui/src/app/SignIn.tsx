import { useState, useSyncExternalStore, type SyntheticEvent } from "react";

import { post } from "../api";
import { onSignedOut, signedOut } from "../api/session";
import { useVerb } from "../conversation/useVerb";
import { paths } from "./router";
import { Button, Logo, Quoted } from "../parts";

export function useSignedOut(): boolean {
  return useSyncExternalStore(onSignedOut, signedOut);
}

/** The session has ended, or there never was one. */
export function SignIn() {
  const [token, setToken] = useState("");
  const { run, busy, error } = useVerb();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    void run(async () => {
      await post("/session", { token: token.trim() });
      location.assign(paths.home);
    });
  };
  return (
    <main className="sign-in">
      <form className="panel" onSubmit={submit}>
        <div className="panel-head">
          <Logo />
          <h1>Windlass</h1>
        </div>
        <div className="panel-body">
          <p>
            This browser is not signed in. Open the address that <code className="mono">windlass serve</code>{" "}
            prints, or enter the token that <code className="mono">windlass token</code> shows.
          </p>
          <label className="field">
            <span className="label">Token</span>
            <input
              className="input mono"
              type="password"
              autoComplete="current-password"
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          </label>
          {error && (
            <p className="bad" role="alert">
              <Quoted text={error} />
            </p>
          )}
          <div className="panel-foot">
            <Button type="submit" look="primary" disabled={busy || !token.trim()}>
              Sign in
            </Button>
          </div>
        </div>
      </form>
    </main>
  );
}
