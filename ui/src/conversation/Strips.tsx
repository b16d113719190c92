import { useState, useSyncExternalStore } from "react";

import { onVersion, otherVersion } from "../api/version";
import { useResource } from "../app/resource";
import { providerList } from "../app/resources";
import { Link, paths } from "../app/router";
import type { Choice } from "../composer/Controls";
import { Button, IconButton, Strip, clockTime, plural } from "../parts";
import { waitingCalls, type Turn } from "../state";

/** What concerns the whole conversation: that the model is a demo, that Windlass was restarted or updated. */
export function Strips({ choice, last }: { choice: Choice; last: Turn | undefined }) {
  const demo = useIsDemo(choice.provider);
  return (
    <>
      <Updated />
      {demo && (
        <Strip icon="model" actions={<Link href={paths.models}>Connect a model</Link>}>
          <strong>Demo mode.</strong> The model’s replies are fixed. The tools, the approvals and the record
          are real.
        </Strip>
      )}
      {last && <Restarted key={last.id} turn={last} />}
    </>
  );
}

export function Updated() {
  const version = useSyncExternalStore(onVersion, otherVersion);
  if (!version) return null;
  return (
    <Strip
      icon="info"
      actions={
        <Button small onClick={() => location.reload()}>
          Reload
        </Button>
      }
    >
      Windlass was updated to {version}. This page is of the version before.
    </Strip>
  );
}

export function useIsDemo(provider = ""): boolean {
  const providers = useResource(providerList).value ?? [];
  const chosen =
    providers.find((one) => one.id === provider) ?? providers.find((one) => one.default) ?? providers[0];
  return chosen?.demo ?? false;
}

function Restarted({ turn }: { turn: Turn }) {
  const [dismissed, setDismissed] = useState(0);
  const calls = waitingCalls(turn).length;
  if (!turn.resumedAt || turn.finished || dismissed === turn.resumedAt) return null;
  return (
    <Strip
      {...(calls > 0 && { tone: "warn" as const })}
      icon="retry"
      actions={<IconButton icon="x" label="Dismiss" onClick={() => setDismissed(turn.resumedAt)} />}
    >
      Windlass restarted at {clockTime(turn.resumedAt)}. This turn picked up where it stopped
      {calls === 0 ? (
        "."
      ) : (
        <>
          ;{" "}
          <strong>
            {plural(calls, "call")} {calls === 1 ? "needs" : "need"} your approval.
          </strong>
        </>
      )}
    </Strip>
  );
}
