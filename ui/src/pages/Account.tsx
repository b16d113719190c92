import { sessions, tokens } from "../api";
import { signOut } from "../api/session";
import { PageFrame } from "../app/PageFrame";
import { useSession } from "../app/useSession";
import { useVerb } from "../conversation/useVerb";
import { Button, Problem, Skeleton } from "../parts";
import "./account/account.css";
import { Preferences } from "./account/Preferences";
import { mayText } from "./account/scopes";
import { Sessions } from "./account/Sessions";
import { Tokens } from "./account/Tokens";
import { useLoaded } from "./useLoaded";
import "./pages.css";

/** Who is signed in, where else, which tokens open this server, and what this person prefers. */
export default function Account() {
  const session = useSession();
  const mayManage = !session || session.scopes.length === 0 || session.scopes.includes("admin");
  return (
    <PageFrame title="Account">
      <div className="account stack">
        <Profile />
        {session?.auth === false ? <Preferences /> : <Lists mayManage={mayManage} />}
      </div>
    </PageFrame>
  );
}

/** Drawn together: how long one list is says where the next one stands. */
function Lists({ mayManage }: { mayManage: boolean }) {
  const browsers = useLoaded("sessions", sessions.list);
  const keys = useLoaded(mayManage ? "tokens" : "", tokens.list);
  const asked = mayManage ? [browsers, keys] : [browsers];
  if (asked.some(({ value, error }) => !value && !error))
    return <Skeleton label="Loading your account…" rows={6} row={46} />;
  return (
    <>
      <Sessions loaded={browsers} />
      {mayManage && <Tokens loaded={keys} />}
      <Preferences />
    </>
  );
}

function Profile() {
  const session = useSession();
  const { run, busy, error } = useVerb();
  if (!session) return null;
  const name = session.name || location.host;
  return (
    <section className="profile" aria-label="Signed in">
      <span className="initial" aria-hidden="true">
        {name.slice(0, 1).toUpperCase()}
      </span>
      <div className="grow">
        <h2 className="cut">{name}</h2>
        <p>
          {session.auth
            ? `Signed in to ${location.host}. ${mayText(session.scopes)}`
            : `${location.host} runs with --no-auth: every program on this computer can use it and approve calls.`}
        </p>
      </div>
      {session.auth && (
        <Button disabled={busy} onClick={() => void run(signOut)}>
          Sign out
        </Button>
      )}
      <Problem what="Couldn’t sign out." error={error} />
    </section>
  );
}
