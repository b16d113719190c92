import { useResource } from "../app/resource";
import { serverList } from "../app/resources";
import { ProgressBar, useNow } from "../parts";
import { tookMs, type Call } from "../state";

interface Props {
  call: Call;
  title: string;
  server: string;
  /** In a group the bar says enough. */
  quiet: boolean;
}

/** How far a running call is, as it reports itself. */
export function Progress({ call, title, server, quiet }: Props) {
  const { progress } = call;
  if (!progress) return quiet ? null : <NoProgress call={call} server={server} />;
  const total = progress.total ?? 0;
  const count = total ? `${progress.progress} of ${total}` : String(progress.progress);
  const message = progress.message ?? title;
  return (
    <div className="progress">
      <span className="cut">{message}</span>
      {message !== count && <span>{count}</span>}
      {total > 0 && <ProgressBar label={title} value={progress.progress} max={total} />}
    </div>
  );
}

const QUIET_AFTER_MS = 3000;

/** Said only after a while: most calls end before anyone wonders. */
function NoProgress({ call, server }: { call: Call; server: string }) {
  const now = useNow(true);
  const limit = useResource(serverList).value?.find((one) => one.slug === server)?.timeout_s;
  if ((tookMs(call, now) ?? 0) < QUIET_AFTER_MS || call.stopping) return null;
  return (
    <div className="progress">
      <span className="cut dim">No progress reported.{limit && ` Gives up at ${limit}\u00a0s.`}</span>
    </div>
  );
}
