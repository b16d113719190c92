import { useEffect, useState, type ReactNode } from "react";

import { servers, type Server, type SignInBegun } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Banner, Button, Icon, Problem } from "../../parts";
import "./signIn.css";
import { opensSafely } from "./signInAddress";

const LOOK_MS = 1500;

/** Signing in to a server in three named steps: what is asked for, the provider's own window, done. */
export function SignInSteps({ server, first = null }: { server: Server; first?: SignInBegun | null }) {
  const [begun, setBegun] = useState(first);
  const [opened, setOpened] = useState(false);
  const { run, busy, error } = useVerb();
  const attempt = server.sign_in;
  const failed = attempt?.error ?? "";
  const waits = Boolean(attempt && !attempt.error);
  useLooking(waits);
  const host = begun?.host || attempt?.host || hostOf(server.url);
  const begin = () =>
    run(async () => {
      setOpened(false);
      setBegun(await servers.login(server.id));
      await serverList.refresh();
    });
  const cancel = () =>
    run(async () => {
      await servers.cancelLogin(server.id);
      setBegun(null);
      await serverList.refresh();
    });
  const asked = waits && begun !== null;
  const sent = waits && (opened || !begun); // the person is, or was before a reload, at the other window
  return (
    <div className="server-sign-in">
      <ol className="sign-in-steps" aria-label={`Signing in to ${server.name}`}>
        <Step n={1} name="What is asked for" state={sent ? "done" : "now"}>
          {asked && !opened && <Asked begun={begun} onOpen={() => setOpened(true)} onCancel={cancel} />}
          {!waits && (
            <>
              {failed && (
                <Banner tone="bad" icon="fail" role="alert">
                  {failed}
                </Banner>
              )}
              <div className="sign-in-acts">
                <Button look="primary" icon="key" disabled={busy} onClick={begin}>
                  {failed ? "Try again" : "Sign in"}
                </Button>
              </div>
            </>
          )}
        </Step>
        <Step n={2} name={`The window of ${host}`} state={sent ? "now" : "later"}>
          {sent && (
            <div className="sign-in-acts">
              <span role="status">Waiting for {host}.</span>
              {begun ? (
                <OpenLink address={begun.authorize_url} small>
                  Open the window again
                </OpenLink>
              ) : (
                <Button small disabled={busy} onClick={begin}>
                  Start over
                </Button>
              )}
              <Button small look="ghost" disabled={busy} onClick={cancel}>
                Cancel
              </Button>
            </div>
          )}
        </Step>
        <Step n={3} name="Done" state="later" />
      </ol>
      <Problem what="That did not work." error={error} />
    </div>
  );
}

interface StepProps {
  n: number;
  name: string;
  state: "done" | "now" | "later";
  children?: ReactNode;
}

function Step({ n, name, state, children }: StepProps) {
  return (
    <li className={state} {...(state === "now" && { "aria-current": "step" as const })}>
      <span className="step-n">{state === "done" ? <Icon name="check" /> : n}</span>
      <div>
        <p className="step-name">{name}</p>
        {children}
      </div>
    </li>
  );
}

interface AskedProps {
  begun: SignInBegun;
  onOpen: () => void;
  onCancel: () => void;
}

function Asked({ begun, onOpen, onCancel }: AskedProps) {
  return (
    <>
      <p>
        <strong>{begun.host}</strong>{" "}
        {begun.scopes.length > 0
          ? "is asked to let Windlass:"
          : "asks you to sign in. Nothing more is named."}
      </p>
      {begun.scopes.length > 0 && (
        <ul className="scopes">
          {begun.scopes.map(({ name, text }) => (
            <li key={name}>
              {text && <span>{text} </span>}
              <code className="mono dim">{name}</code>
            </li>
          ))}
        </ul>
      )}
      <div className="sign-in-acts">
        <OpenLink address={begun.authorize_url} onOpen={onOpen}>
          Open {begun.host}
        </OpenLink>
        <Button look="ghost" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </>
  );
}

interface OpenLinkProps {
  address: string;
  small?: boolean;
  onOpen?: () => void;
  children: ReactNode;
}

/** A link rather than a script: no blocker stops it, and the window it opens knows nothing of this one. */
function OpenLink({ address, small, onOpen, children }: OpenLinkProps) {
  if (!opensSafely(address)) return <p className="warn">Its address is not https, so it is not opened.</p>;
  return (
    <a
      className={small ? "btn small" : "btn primary"}
      href={address}
      target="_blank"
      rel="noopener noreferrer"
      onClick={onOpen}
    >
      <Icon name="out" />
      {children}
    </a>
  );
}

/** The answer comes to another window: this one looks until it is there. */
function useLooking(looking: boolean): void {
  useEffect(() => {
    if (!looking) return;
    const timer = setInterval(() => void serverList.refresh(), LOOK_MS);
    return () => clearInterval(timer);
  }, [looking]);
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    return url;
  }
}
