import { turns } from "../api";
import { navigate, paths } from "../app/router";
import { Banner, Button, plural, useNow, Quoted } from "../parts";
import { callsOf, searchProblem, type ModelFailed, type Turn, type TurnFinished } from "../state";
import { useOpen } from "./context";
import { WaitingLine } from "./WaitingLine";
import { stop } from "./stop";
import { useVerb } from "./useVerb";

/** The line under a turn that did not simply answer: what happened, what it means, what can be done. */
export function TurnBanner({ turn }: { turn: Turn }) {
  const failure = turn.failures.at(-1);
  if (turn.finished) return <Ended turn={turn} finished={turn.finished} />;
  if (turn.waiting && !turn.stopping && turn.waiting.for !== "person")
    return <WaitingLine turn={turn} waiting={turn.waiting} />;
  if (failure && !turn.draft?.text && !turn.draft?.reasoning && !turn.stopping)
    return <Retrying turn={turn} failure={failure} />;
  return null;
}

function Ended({ turn, finished }: { turn: Turn; finished: TurnFinished }) {
  switch (finished.outcome) {
    case "limit":
      return <LimitBanner turn={turn} finished={finished} />;
    case "stopped":
      return <StoppedBanner turn={turn} />;
    case "failed":
      return <FailedBanner turn={turn} finished={finished} />;
    default:
      return <SearchProblem turn={turn} />;
  }
}

function SearchProblem({ turn }: { turn: Turn }) {
  const why = searchProblem(turn);
  return why ? (
    <p className="turn-note" role="status">
      <Quoted text={why} />
    </p>
  ) : null;
}

function LimitBanner({ turn, finished }: { turn: Turn; finished: TurnFinished }) {
  const { run, busy, error } = useVerb();
  const { rounds } = turn.limits;
  const isRounds = finished.cause === "rounds" && rounds > 1;
  return (
    <div className="turn-line">
      <Banner
        tone="warn"
        icon="alert"
        actions={
          <Button small disabled={busy} onClick={() => run(() => turns.continue(turn.id))}>
            {isRounds ? `Continue, ${rounds} more` : "Continue"}
          </Button>
        }
      >
        {isRounds ? (
          <>
            <strong>Stopped at {rounds} rounds.</strong> The answer above uses what was found so far.
          </>
        ) : (
          <FirstStrong text={finished.message ?? ""} fallback="Stopped at a limit." />
        )}
        {error && <span className="bad"> {error}</span>}
      </Banner>
    </div>
  );
}

function StoppedBanner({ turn }: { turn: Turn }) {
  const { run, busy, error } = useVerb();
  const stoppedCalls = callsOf(turn).filter(
    (call) => call.finished?.cause === "stopped" && call.attempts.length > 0,
  ).length;
  return (
    <div className="turn-line">
      <Banner
        icon="stopped"
        actions={
          <>
            <Button small disabled={busy} onClick={() => run(() => turns.continue(turn.id))}>
              Continue
            </Button>
            <Button small disabled={busy} onClick={() => run(() => turns.retry(turn.id))}>
              Answer again
            </Button>
          </>
        }
      >
        <strong>Stopped.</strong>{" "}
        {stoppedCalls > 0 &&
          `${plural(stoppedCalls, "call")} ${stoppedCalls === 1 ? "was" : "were"} running and ${stoppedCalls === 1 ? "was" : "were"} told to stop.`}
        {error && <span className="bad"> {error}</span>}
      </Banner>
    </div>
  );
}

const MODEL_CAUSES = new Set([
  "account",
  "auth",
  "bad_address",
  "forbidden",
  "not_found",
  "proxy",
  "quota",
  "redirected",
  "tls",
  "unknown_model",
  "unreachable",
]);

function FailedBanner({ turn, finished }: { turn: Turn; finished: TurnFinished }) {
  const { run, busy, error } = useVerb();
  const kept = turn.rounds.length > 0 ? " What was said so far is kept." : "";
  const [statement, details] = parts(finished.message || "The turn failed.");
  return (
    <div className="turn-line">
      <Banner
        tone="bad"
        icon="fail"
        role="alert"
        actions={
          <>
            {MODEL_CAUSES.has(finished.cause ?? "") && (
              <Button small onClick={() => navigate(paths.models)}>
                Open Models
              </Button>
            )}
            <Button
              small
              disabled={busy}
              onClick={() =>
                run(() => (turn.rounds.length > 0 ? turns.continue(turn.id) : turns.retry(turn.id)))
              }
            >
              Try again
            </Button>
          </>
        }
      >
        <strong>{statement}</strong> <Quoted text={finished.hint ?? ""} />
        {kept}
        {details && <span className="dim"> {details}</span>}
        {error && <span className="bad"> {error}</span>}
      </Banner>
    </div>
  );
}

function Retrying({ turn, failure }: { turn: Turn; failure: ModelFailed }) {
  const { store } = useOpen();
  const now = useNow(true);
  const due = Date.parse(failure.at) + (failure.wait_s ?? 0) * 1000;
  const left = Math.ceil((due - now) / 1000);
  const tries = triesOf(turn.failures);
  const hasFallback = (turn.settings.fallback ?? []).length > 0;
  const gaveUp = hasFallback && (failure.retryable === false || tries >= turn.limits.attempts);
  const count = `(${tries} of ${turn.limits.attempts - 1})`;
  const [statement, details] = parts(failure.message || "The model did not answer.");
  return (
    <div className="turn-line">
      <Banner
        icon="run"
        actions={
          <Button small onClick={() => stop(store, turn.id)}>
            Stop
          </Button>
        }
      >
        <strong>{statement}</strong>{" "}
        {gaveUp
          ? "Asking another model instead."
          : left > 0
            ? `Retrying in ${left}\u00a0s ${count}.`
            : `Retrying ${count}.`}
        {details && <span className="dim"> {details}</span>}
      </Banner>
    </div>
  );
}

/** How often the model that failed last was tried: a fallback's attempts are counted by themselves. */
function triesOf(failures: readonly ModelFailed[]): number {
  const last = failures.at(-1);
  const other = failures.findLastIndex(({ host, model }) => host !== last?.host || model !== last?.model);
  return failures.length - 1 - other;
}

function FirstStrong({ text, fallback }: { text: string; fallback: string }) {
  const [first = fallback, ...rest] = text.split(/(?<=\.)\s+/);
  return (
    <>
      <strong>{first || fallback}</strong> {rest.join(" ")}
    </>
  );
}

/** What a person reads first, and what a program said about it. */
function parts(message: string): [string, string] {
  const end = message.search(/\. /);
  const first = end < 0 ? message : message.slice(0, end + 1);
  return [/[.!?]$/.test(first) ? first : `${first}.`, end < 0 ? "" : message.slice(end + 2)];
}
