import { servers, type Server } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, Problem, clockTime } from "../../parts";

/** Of a server somebody is signed in to: until when, and the way out. Draws nothing for others. */
export function SignInFacts({ server }: { server: Server }) {
  const { run, busy, error } = useVerb();
  if (!server.signed_in) return null;
  const out = () => run(() => servers.logout(server.id)).then(() => serverList.refresh());
  const ends = server.sign_in_ends_at;
  return (
    <>
      <dt>Sign-in</dt>
      <dd>
        Signed in.{" "}
        {ends ? `Ends at ${clockTime(Date.parse(ends))}; then you sign in again. ` : "Renewed by itself. "}
        <Button small disabled={busy} onClick={out}>
          Sign out
        </Button>
        <Problem what="Couldn’t sign out." error={error} />
      </dd>
    </>
  );
}
