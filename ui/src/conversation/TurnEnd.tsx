import { turns } from "../api";
import { inspect } from "../app/router";
import { useSearchOff } from "../composer/searchHint";
import { CopyButton, Icon, IconButton, Moment, duration, plural, tokens, type IconName } from "../parts";
import {
  answerOf,
  callsOf,
  messageId,
  toolRounds,
  usageOf,
  workedMs,
  type Outcome,
  type Turn,
  type Versions,
} from "../state";
import { DeleteMessage } from "./DeleteMessage";
import { Pager } from "./Pager";
import { useVerb } from "./useVerb";

interface Props {
  turn: Turn;
  answers: Versions;
  inspected: boolean;
}

/** The last line of a turn that has ended: how, its figures, and what can be done with it. */
export function TurnEnd({ turn, answers, inspected }: Props) {
  if (!turn.finished) return null;
  if (turn.origin === "added") return <AddedEnd turn={turn} />;
  const { tone, icon, words } = ENDS[turn.finished.outcome];
  const usage = usageOf(turn);
  const calls = callsOf(turn).length;
  const rounds = toolRounds(turn);
  const fallback = fallbackOf(turn);
  return (
    <footer className="turn-end">
      <span className={`what ${tone}`}>
        <Icon name={icon} />
        {words}
      </span>
      {rounds > 0 && <span>{plural(rounds, "round")}</span>}
      {calls > 0 && <span className="opt">{plural(calls, "call")}</span>}
      {fallback && (
        <span title="The model that was asked first could not answer">{`Answered by ${fallback}`}</span>
      )}
      {usage.prompt > 0 && (
        <span className="opt">
          {tokens(usage.prompt)} tokens in, {tokens(usage.completion)} out
        </span>
      )}
      <span>{duration(workedMs(turn, turn.finishedAt))}</span>
      <Actions turn={turn} answers={answers} inspected={inspected} />
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
  if (turn.opening.at(-1)?.role === "user") return null;
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
