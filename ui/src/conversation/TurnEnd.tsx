import { turns } from "../api";
import { inspect } from "../app/router";
import { useSearchOff } from "../composer/searchHint";
import {
  CopyButton,
  Icon,
  IconButton,
  Moment,
  counting,
  duration,
  plural,
  tokens,
  useNow,
  type IconName,
} from "../parts";
import {
  answerOf,
  callsOf,
  messageId,
  phaseOf,
  roundNumber,
  toolRounds,
  usageOf,
  workedMs,
  type Outcome,
  type Phase,
  type Turn,
  type Versions,
} from "../state";
import { neededText } from "./labels";
import { DeleteMessage } from "./DeleteMessage";
import { Pager } from "./Pager";
import { useVerb } from "./useVerb";

interface Props {
  turn: Turn;
  answers: Versions;
  inspected: boolean;
}

/** The last line of a turn: what it does or how it ended, its figures, and what can be done with it. */
export function TurnEnd({ turn, answers, inspected }: Props) {
  const phase = phaseOf(turn);
  const now = useNow(phase.kind !== "finished" && phase.kind !== "waiting");
  if (turn.origin === "added") return <AddedEnd turn={turn} />;
  const { tone, icon, words } = turn.finished ? ENDS[turn.finished.outcome] : phaseLabel(phase);
  const usage = usageOf(turn);
  const calls = callsOf(turn).length;
  const round = turn.finished ? toolRounds(turn) : roundNow(turn, phase);
  const ms = workedMs(turn, now);
  const fallback = fallbackOf(turn);
  return (
    <footer className="turn-end">
      <span className={`what ${tone}`}>
        <Icon name={icon} />
        {words}
      </span>
      {round > 0 && (
        <span>{turn.finished ? plural(round, "round") : `Round ${round} of ${turn.limits.rounds}`}</span>
      )}
      {calls > 0 && <span className="opt">{plural(calls, "call")}</span>}
      {fallback && (
        <span title="The model that was asked first could not answer">{`Answered by ${fallback}`}</span>
      )}
      {usage.prompt > 0 && (
        <span className="opt">
          {tokens(usage.prompt)} tokens in, {tokens(usage.completion)} out
        </span>
      )}
      <span>
        {turn.finished ? duration(ms) : counting(ms)}
        {phase.kind === "waiting" && ", waiting not counted"}
      </span>
      {turn.finished && <Actions turn={turn} answers={answers} inspected={inspected} />}
    </footer>
  );
}

/** `provider/model` of the last reply, where another than the turn's own provider gave it. */
function fallbackOf({ rounds, settings }: Turn): string {
  const reply = rounds.at(-1)?.reply;
  if (!reply?.provider || reply.provider === settings.provider) return "";
  return `${reply.provider}/${reply.model ?? ""}`;
}

/** Messages from elsewhere have an end of their own only where somebody answered. */
function AddedEnd({ turn }: { turn: Turn }) {
  if (!turn.finished || turn.opening.at(-1)?.role === "user") return null;
  return (
    <footer className="turn-end">
      <Moment at={turn.finishedAt} />
    </footer>
  );
}

function Actions({ turn, answers, inspected }: Props) {
  const { run, busy, error } = useVerb();
  const reply = turn.rounds.at(-1)?.reply;
  const searchOff = useSearchOff();
  return (
    <span className="acts">
      {error && <span className="bad">{error}</span>}
      <Pager versions={answers} what="answer" />
      <IconButton
        icon="globe"
        label={searchOff || "Search the web for this"}
        disabled={busy || searchOff !== ""}
        onClick={() => run(() => turns.retry(turn.id, { web_search: "on" }))}
      />
      <IconButton
        icon="retry"
        label="Answer again"
        disabled={busy}
        onClick={() => run(() => turns.retry(turn.id))}
      />
      {answerOf(turn) && <CopyButton text={answerOf(turn)} label="Copy the answer" />}
      <IconButton
        icon="spans"
        label="Inspect this turn"
        aria-pressed={inspected}
        onClick={() => inspect(inspected ? "" : turn.id)}
      />
      {reply && !reply.blanked && <DeleteMessage turn={turn} id={messageId(turn, reply.seq)} what="answer" />}
    </span>
  );
}

interface Label {
  tone: string;
  icon: IconName;
  words: string;
}

const ENDS: Record<Outcome, Label> = {
  answered: { tone: "", icon: "check", words: "Answered" },
  limit: { tone: "warn", icon: "alert", words: "Stopped at a limit" },
  stopped: { tone: "", icon: "stopped", words: "Stopped" },
  failed: { tone: "bad", icon: "fail", words: "Failed" },
  handed_over: { tone: "", icon: "out", words: "Handed over" },
  added: { tone: "", icon: "check", words: "Added" },
};

function phaseLabel(phase: Phase): Label {
  if (phase.kind === "waiting")
    return {
      tone: "warn",
      icon: "person",
      words: neededText(phase.calls, phase.approvals),
    };
  if (phase.kind === "queued") return { tone: "", icon: "queued", words: "Queued" };
  return { tone: "accent", icon: "run", words: movingText(phase) };
}

function movingText(phase: Phase): string {
  switch (phase.kind) {
    case "tools":
      return `Running ${plural(phase.calls, "tool")}`;
    case "writing":
      return "Writing the answer";
    case "calling":
      return "Writing a call";
    case "thinking":
      return "Thinking";
    case "retrying":
      return "Trying again";
    case "stopping":
      return "Stopping";
    default:
      return "Waiting for the model";
  }
}

/** What the rail shows beside the newest words: the answer is no round, so the one before it stands. */
function roundNow(turn: Turn, phase: Phase): number {
  const next = isInRound(phase) ? 0 : roundNumber(turn, turn.rounds.length + 1);
  return next || toolRounds(turn);
}

/** Whether the turn is still in the last complete round, not yet in the next. */
function isInRound(phase: Phase): boolean {
  return phase.kind === "tools" || phase.kind === "waiting" || phase.kind === "stopping";
}
