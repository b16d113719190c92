import { sessions, type SessionInfo, type SessionList } from "../../api";
import { useVerb } from "../../conversation/useVerb";
import { Button, Icon, Moment, Problem } from "../../parts";
import type { Loaded } from "../useLoaded";

/** Browsers that are signed in. Where they are is not shown: an address says too much and too little. */
export function Sessions({ loaded: { value, error, again } }: { loaded: Loaded<SessionList> }) {
  return (
    <section aria-labelledby="sessions">
      <div className="section-head">
        <h2 id="sessions">Sessions</h2>
      </div>
      <Problem what="Couldn’t load sessions." error={error} onAgain={again} />
      {value && (
        <ul className="lines">
          {value.sessions.map((one) => (
            <SessionRow key={one.id} session={one} onEnded={again} />
          ))}
        </ul>
      )}
    </section>
  );
}

function SessionRow({ session, onEnded }: { session: SessionInfo; onEnded: () => void }) {
  const { run, busy, error } = useVerb();
  const end = async () => {
    if (await run(() => sessions.end(session.id))) onEnded();
  };
  return (
    <li>
      <Icon name="model" />
      <b>{session.current ? "This browser" : session.browser}</b>
      <small className="grow">
        {session.current ? session.browser : `Signed in with the token “${session.name}”`}
      </small>
      <small>{session.current ? "now" : <LastSeen at={session.last_used_at} />}</small>
      {!session.current && (
        <Button small disabled={busy} aria-label={`Sign out ${session.browser}`} onClick={() => void end()}>
          Sign out
        </Button>
      )}
      <Problem what={`Couldn’t sign out ${session.browser}.`} error={error} />
    </li>
  );
}

function LastSeen({ at }: { at: string }) {
  return (
    <>
      last seen <Moment at={Date.parse(at)} />
    </>
  );
}
