import { turns } from "../api";
import { navigate, paths } from "../app/router";
import { Banner, Button, plural, useNow, Quoted } from "../parts";
import {
  callsOf,
  firstSentence,
  searchProblem,
  type ModelFailed,
  type Turn,
  type TurnFinished,
} from "../state";
import { useOpen } from "./context";
import { WaitingLine } from "./WaitingLine";
import { stop } from "./stop";
import { useVerb } from "./useVerb";

/**
 * The line under a turn that did not simply answer: what happened, what it means, what can be done. Its height is kept
 * free while the turn is live, so that a reason comes and goes without moving anything.
 */
export function TurnBanner({ turn }: { turn: Turn }) {
  if (turn.finished) return <Ended turn={turn} finished={turn.finished} />;
  return (
    <div className="turn-line live-line">
      <WhyNothingMoves turn={turn} />
    </div>
  );
}

const NAMED_AFTER_MS = 3000;

/** Nothing while the turn moves, and in the first seconds in which it does not. */
function WhyNothingMoves({ turn }: { turn: Turn }) {
  const { waiting, stopping, draft } = turn;
  const failure = turn.failures.at(-1);
  const retries = failure !== undefined && !draft?.text && !draft?.reasoning && !draft?.calls.length;
  const now = useNow(retries);
  if (stopping || waiting?.for === "person") return null;
  const due = retries ? Date.parse(failure.at) + (failure.wait_s ?? 0) * 1000 : 0;
  const pauses = retries && due > now && waiting?.for !== "rate_limit";
  if (waiting && !pauses) return <WaitingLine turn={turn} waiting={waiting} />;
  const lasts =
    retries &&
    ((failure.wait_s ?? 0) * 1000 >= NAMED_AFTER_MS || now - Date.parse(failure.at) >= NAMED_AFTER_MS);
  return lasts ? <Retrying turn={turn} failure={failure} left={due - now} /> : null;
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
  const kept = turn.rounds.length > 0 ? " The answer so far is kept." : "";
  const [statement, details] = firstSentence(finished.message || "The turn failed.");
  const rejected = finished.cause === "auth";
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
                {rejected ? "Update key" : "Open Models"}
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
        {error && <span className="bad"> {error}</span>}
        <Details text={details} />
      </Banner>
    </div>
  );
}

/** What a program said of it: long, and of use to few. */
function Details({ text }: { text: string }) {
  if (!text) return null;
  return (
    <details className="banner-details">
      <summary>Details</summary>
      <p className="dim">{text}</p>
    </details>
  );
}

function Retrying({ turn, failure, left }: { turn: Turn; failure: ModelFailed; left: number }) {
  const { store } = useOpen();
  const seconds = Math.ceil(left / 1000);
  const tries = triesOf(turn.failures);
  const hasFallback = (turn.settings.fallback ?? []).length > 0;
  const gaveUp = hasFallback && (failure.retryable === false || tries >= turn.limits.attempts);
  const count = `(${tries} of ${turn.limits.attempts - 1})`;
  const [statement, details] = firstSentence(failure.message || "The model did not answer.");
  const next = gaveUp
    ? "Asking another model instead."
    : seconds > 0
      ? `Retrying in ${seconds}\u00a0s ${count}.`
      : `Retrying ${count}.`;
  return (
    <Banner
      icon="run"
      actions={
        <Button small onClick={() => stop(store, turn.id)}>
          Stop
        </Button>
      }
    >
      <strong role="status">{statement}</strong> <span aria-hidden="true">{next}</span>
      <Details text={details} />
    </Banner>
  );
}

/** How often the model that failed last was tried: a fallback's attempts are counted by themselves. */
function triesOf(failures: readonly ModelFailed[]): number {
  const last = failures.at(-1);
  const other = failures.findLastIndex(({ host, model }) => host !== last?.host || model !== last?.model);
  return failures.length - 1 - other;
}

function FirstStrong({ text, fallback }: { text: string; fallback: string }) {
  const [first, rest] = firstSentence(text || fallback);
  return (
    <>
      <strong>{first}</strong> {rest}
    </>
  );
}
