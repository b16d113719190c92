import { useResource } from "../app/resource";
import { serverList } from "../app/resources";
import { ProgressBar, useNow } from "../parts";
import { tookMs, type Call, type ToolProgress } from "../state";

interface Props {
  call: Call;
  title: string;
  server: string;
}

/** How far a running call is, as it reports itself: inside the open call. */
export function Progress({ call, title, server }: Props) {
  const { progress } = call;
  if (!progress) return <NoProgress call={call} server={server} />;
  const total = progress.total ?? 0;
  return (
    <div className="progress">
      <ProgressText progress={progress} title={title} />
      {total > 0 && <ProgressBar label={title} value={progress.progress} max={total} />}
    </div>
  );
}

/** On the call's own line, in place of its arguments: a line beneath would push away what follows. */
export function ProgressText({ progress, title }: { progress: ToolProgress; title: string }) {
  const count = progress.total ? `${progress.progress} of ${progress.total}` : String(progress.progress);
  const message = progress.message ?? title;
  return (
    <>
      <span className="args plain cut">{message}</span>
      {message !== count && <span className="count-of num">{count}</span>}
    </>
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
