import { memo, type ReactNode } from "react";

import { inspect } from "../app/router";
import { ApprovalCard } from "../cards/ApprovalCard";
import { InputCard } from "../cards/InputCard";
import { UnknownCard } from "../cards/UnknownCard";
import { Prose } from "../prose/Prose";
import {
  lookOf,
  needsPerson,
  roundNumber,
  thoughtMs,
  waitingCalls,
  type Call,
  type Draft,
  type Round,
  type Turn,
} from "../state";
import { CallGroup } from "./CallGroup";
import { CallRow } from "./CallRow";
import { DraftCall } from "./DraftCall";
import { Reasoning } from "./Reasoning";

interface FrameProps {
  turn: Turn;
  n: number;
  live: boolean;
  last: boolean;
  picked: boolean;
  children: ReactNode;
}

/** One request and what came of it. A round of calls has its number on the rail, an answer a dot. */
function RoundFrame({ turn, n, live, last, picked, children }: FrameProps) {
  const number = roundNumber(turn, n);
  const name = number ? `Round ${number}` : "Answer";
  const classes = ["round", live && "live", last && "last", picked && "picked"].filter(Boolean).join(" ");
  return (
    <div className={classes} role="group" aria-label={name}>
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
  const { turn, n, round, draft, last, picked, sources, onCite, children } = props;
  const text = round?.reply.text ?? draft?.text ?? "";
  return (
    <RoundFrame turn={turn} n={n} live={last && turn.finished === null} last={last} picked={picked}>
      {round?.reply.blanked && <p className="dim">This reply was deleted.</p>}
      {draft?.lost && (
        <div className="lost">
          <Prose text={draft.lost} />
        </div>
      )}
      <Thoughts round={round} draft={draft} />
      {text && <Prose text={text} sources={sources} onCite={onCite} growing={draft !== null} />}
      {round && !round.reply.blanked && <Calls calls={round.calls} turn={turn} />}
      {draft?.calls.map((call) => (
        <DraftCall key={call.index} call={call} />
      ))}
      {children}
    </RoundFrame>
  );
});

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
function Calls({ calls, turn }: { calls: readonly Call[]; turn: Turn }) {
  const waits = (call: Call) => turn.finished === null && needsPerson(lookOf(call));
  const quiet = calls.filter((call) => !waits(call));
  const first = waitingCalls(turn)[0];
  const [only] = quiet;
  return (
    <>
      {quiet.length > 1 && <CallGroup calls={quiet} turn={turn} />}
      {quiet.length === 1 && only && <CallRow call={only} turn={turn} />}
      {calls.filter(waits).map((call) => (
        <WaitingCall key={call.id} call={call} turn={turn} first={call === first} />
      ))}
    </>
  );
}

/** The next approval is a card; those behind it are rows until it is their turn or they are opened. */
function WaitingCall({ call, turn, first }: { call: Call; turn: Turn; first: boolean }) {
  const look = lookOf(call);
  if (look === "unknown") return <UnknownCard call={call} first={first} />;
  if (look === "asked" && call.input)
    return <InputCard key={call.input.at} call={call} input={call.input} first={first} />;
  const next = waitingCalls(turn).find((one) => lookOf(one) === "waiting") === call;
  if (next) return <ApprovalCard call={call} first={first} />;
  return <LaterApproval call={call} turn={turn} />;
}

function LaterApproval({ call, turn }: { call: Call; turn: Turn }) {
  return <CallRow call={call} turn={turn} waitingCard={<ApprovalCard call={call} first={false} />} />;
}
