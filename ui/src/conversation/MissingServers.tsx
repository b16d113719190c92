import { useState, type ReactNode } from "react";

import { servers, type Server, type SignInBegun } from "../api";
import { useResource } from "../app/resource";
import { serverList } from "../app/resources";
import { Banner, Button, Problem } from "../parts";
import type { Turn } from "../state";
import { SignInSteps } from "../pages/servers/SignInSteps";
import { useVerb } from "./useVerb";

/** Whose tools the model was not offered in this turn. What is said of a server is of that moment. */
export function MissingServers({ turn }: { turn: Turn }) {
  const missing = turn.settings.missing ?? [];
  if (missing.length === 0) return null;
  return (
    <>
      {missing.map(({ server, state, reason }) => (
        <Missing key={server} slug={server} wantsSignIn={state === "needs_sign_in"} reason={reason ?? ""} />
      ))}
    </>
  );
}

function Missing({ slug, wantsSignIn, reason }: { slug: string; wantsSignIn: boolean; reason: string }) {
  const what = wantsSignIn ? "needs you to sign in" : "is away";
  return (
    <SignInHere slug={slug} wanted={wantsSignIn}>
      <strong>{slug}</strong> {what}, so its tools are missing here.{" "}
      {reason && !wantsSignIn && <span className="dim">{reason}</span>}
    </SignInHere>
  );
}

interface HereProps {
  slug: string;
  wanted: boolean;
  children: ReactNode;
}

/** A line with the button that opens the steps below it, as long as the server still asks for a sign-in. */
export function SignInHere({ slug, wanted, children }: HereProps) {
  const [begun, setBegun] = useState<SignInBegun | null>(null);
  const { run, busy, error } = useVerb();
  const { value } = useResource(serverList);
  const server = value?.find((one) => one.slug === slug);
  const asks = wanted && server?.status === "needs_sign_in";
  const begin = (there: Server) =>
    run(async () => {
      const answer = await servers.login(there.id);
      await serverList.refresh();
      setBegun(answer);
    });
  return (
    <>
      <Banner
        tone="warn"
        icon={wanted ? "key" : "alert"}
        actions={
          asks &&
          !begun && (
            <Button small disabled={busy} onClick={() => begin(server)}>
              Sign in
            </Button>
          )
        }
      >
        {children}
      </Banner>
      {asks && begun && <SignInSteps key={begun.authorize_url} server={server} first={begun} />}
      <Problem what="Couldn’t begin." error={error} />
    </>
  );
}
