import { memo, type ReactNode } from "react";

import { inspect } from "../app/router";
import { Prose } from "../prose/Prose";
import {
  lookOf,
  messageId,
  needsPerson,
  roundNumber,
  thoughtMs,
  type Call,
  type Draft,
  type Round,
  type Turn,
} from "../state";
import { CallGroup } from "./CallGroup";
import { CallRow } from "./CallRow";
import { useTurnFolds } from "./context";
import { DraftCalls } from "./DraftCalls";
import { Figures, hasFigures } from "./Figures";
import { keptCalls, type Piece } from "./folding";
import { KeptCalls, WaitingCalls } from "./KeptCalls";
import { Reasoning } from "./Reasoning";

interface FrameProps {
  turn: Turn;
  n: number;
  live: boolean;
  last: boolean;
  picked: boolean;
  /** The reply as the server names it; "" while it is written. */
  message: string;
  /** What it folds as, where it may. */
  fold: number | undefined;
  children: ReactNode;
}

/** One request and what came of it. A round of calls has its number on the rail, an answer a dot. */
function RoundFrame({ turn, n, live, last, picked, message, fold, children }: FrameProps) {
  const number = roundNumber(turn, n);
  const name = number ? `Round ${number}` : "Answer";
  const classes = ["round", live && "live", last && "last", picked && "picked"].filter(Boolean).join(" ");
  return (
    <div
      className={classes}
      role="group"
      aria-label={name}
      data-message={message || undefined}
      data-fold={fold}
    >
      <button
        type="button"
        className={number ? "n" : "n answer"}
        aria-label={`${name}, open in the inspector`}
        title="Open in the inspector"
        onClick={() => inspect(turn.id, n)}
      >
        {number || ""}
      </button>
      <div className="body">{children}</div>
    </div>
  );
}

interface Props {
  turn: Turn;
  n: number;
  /** One of the two: what was replied, or what is being written. */
  round: Round | null;
  draft: Draft | null;
  piece: Extract<Piece, { kind: "round" }>;
  /** The steps stand in a block, not here. */
  inBlock: boolean;
  last: boolean;
  picked: boolean;
  sources: number;
  onCite: (n: number) => void;
  children?: ReactNode;
}

/**
 * A round, from its first word on. It stays the same element when the reply is complete, so that the end of a long
 * answer does not draw all of it anew.
 */
export const RoundView = memo(function RoundView(props: Props) {
  const { turn, n, round, draft, piece, inBlock, last, picked, children } = props;
  const { part, calls, fold } = piece;
  const folds = round !== null && round.calls.length > 0 && calls === "rows" && part !== "calls";
  if (calls === "kept" && round && !keepsAnything(turn, round)) return null;
  return (
    <RoundFrame
      turn={turn}
      n={n}
      live={last && turn.finished === null}
      last={last}
      picked={picked}
      message={round && part !== "calls" ? messageId(turn, round.reply.seq) : ""}
      fold={folds ? fold : undefined}
    >
      {part !== "calls" && <Words {...props} />}
      {part !== "text" && round && !round.reply.blanked && <Calls round={round} turn={turn} shown={calls} />}
      {draft && !inBlock && draft.calls.length > 0 && <DraftCalls calls={draft.calls} />}
      {children}
    </RoundFrame>
  );
});

function keepsAnything(turn: Turn, { reply, calls }: Round): boolean {
  const { failed, waiting } = keptCalls(turn, calls);
  return Boolean(
    reply.text || reply.reasoning || reply.blanked || failed.length + waiting.length || hasFigures(calls),
  );
}

/** What the model wrote before its calls, or for an answer. */
function Words({ round, draft, sources, onCite }: Props) {
  const text = round?.reply.text ?? draft?.text ?? "";
  return (
    <>
      {round?.reply.blanked && <p className="dim">This reply was deleted.</p>}
      {draft?.lost && (
        <div className="lost">
          <Prose text={draft.lost} />
        </div>
      )}
      <Thoughts round={round} draft={draft} />
      {text && <Prose text={text} sources={sources} onCite={onCite} growing={draft !== null} />}
    </>
  );
}

function Thoughts({ round, draft }: Pick<Props, "round" | "draft">) {
  if (round?.reply.reasoning) return <Reasoning text={round.reply.reasoning} ms={thoughtMs(round.reply)} />;
  if (!draft?.reasoning) return null;
  const thinking = draft.textSince === 0;
  return (
    <Reasoning
      text={draft.reasoning}
      ms={thinking ? null : draft.textSince - draft.since}
      since={draft.since}
    />
  );
}

/** Those that wait for a person stand by themselves, as cards; the rest are one group. */
function Calls({ round, turn, shown }: { round: Round; turn: Turn; shown: "rows" | "folded" | "kept" }) {
  const { toggleRound } = useTurnFolds();
  const { calls } = round;
  if (shown === "kept") return <KeptCalls calls={calls} turn={turn} />;
  const waits = (call: Call) => turn.finished === null && needsPerson(lookOf(call));
  const quiet = calls.filter((call) => !waits(call));
  const [only] = quiet;
  return (
    <>
      {quiet.length > 1 && (
        <CallGroup
          calls={quiet}
          turn={turn}
          open={shown === "rows"}
          onToggle={(clicked) => toggleRound(round.n, clicked)}
        />
      )}
      {quiet.length === 1 && only && <CallRow call={only} turn={turn} />}
      <WaitingCalls calls={calls.filter(waits)} turn={turn} />
      <Figures calls={calls} />
    </>
  );
}
