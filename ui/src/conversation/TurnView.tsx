import { memo, useCallback, useMemo, useState } from "react";

import { unknownCitations } from "../prose/citations";
import { sourcesOf, type Draft, type Round, type Turn, type Versions } from "../state";
import { TurnFoldsContext } from "./context";
import { ALL, piecesOf } from "./folding";
import { MissingServers } from "./MissingServers";
import { Opening } from "./Opening";
import { RoundView } from "./RoundView";
import { RunView } from "./RunView";
import { Sources } from "./Sources";
import { StepsBlock } from "./StepsBlock";
import { TurnBanner } from "./TurnBanner";
import { TurnEnd } from "./TurnEnd";
import { TurnStatus } from "./TurnStatus";
import { useFolding } from "./useFolding";

interface Props {
  turn: Turn;
  /** Other answers and other wordings beside this turn, as "index,id,id". Text, so that a turn is drawn again only when they change. */
  answers: string;
  wordings: string;
  inspected: boolean;
  inspectedRound: number;
}

/** What was said, what was done about it, and how it ended. */
export const TurnView = memo(function TurnView({
  turn,
  answers,
  wordings,
  inspected,
  inspectedRound,
}: Props) {
  const sources = useMemo(() => sourcesOf(turn), [turn]);
  const [cited, setCited] = useState({ n: 0, times: 0 });
  const onCite = useCallback((n: number) => setCited(({ times }) => ({ n, times: times + 1 })), []);
  const { article, folds, toggleRound, toggleSteps, showCall } = useFolding(turn);
  const asked = useMemo(() => ({ toggleRound, showCall }), [toggleRound, showCall]);
  const pieces = useMemo(() => piecesOf(turn, folds), [turn, folds]);
  const [fresh, setFresh] = useState(turn.finished === null);
  if (!turn.finished && !fresh) setFresh(true);
  const inBlock = pieces.some(({ kind }) => kind === "block");
  const last = pieces.findLast((piece) => piece.kind === "round")?.n;
  const answer = turn.rounds.at(-1)?.reply.text ?? "";
  const strip = sources.length > 0 && <Sources turn={turn} sources={sources} cited={cited} />;
  return (
    <TurnFoldsContext value={asked}>
      <article className={fresh ? "turn fresh" : "turn"} id={turn.id} tabIndex={-1} data-turn ref={article}>
        <Opening turn={turn} wordings={unpacked(wordings)} />
        {pieces.map((piece) => {
          if (piece.kind === "block")
            return <StepsBlock key="block" turn={turn} open={folds.opened.has(ALL)} onToggle={toggleSteps} />;
          if (piece.kind === "run")
            return <RunView key={`run-${piece.run.from}`} turn={turn} {...piece} onToggle={toggleSteps} />;
          const { n, part } = piece;
          const round = turn.rounds[n - 1] ?? null;
          const draft = round ? null : turn.draft;
          return (
            <RoundView
              key={part === "calls" ? `calls-${n}` : n}
              turn={turn}
              n={n}
              round={round}
              draft={draft}
              piece={piece}
              inBlock={inBlock}
              last={n === last}
              picked={inspected && n === inspectedRound}
              sources={sources.length}
              onCite={onCite}
            >
              {isAnswer(round, draft) && strip}
            </RoundView>
          );
        })}
        <Unsourced text={answer} sources={sources.length} />
        <MissingServers turn={turn} />
        <TurnBanner turn={turn} />
        {turn.finished ? (
          <TurnEnd turn={turn} answers={unpacked(answers)} inspected={inspected} />
        ) : (
          !inBlock && <TurnStatus turn={turn} />
        )}
      </article>
    </TurnFoldsContext>
  );
});

/** A reply without calls is the last of its turn. */
function isAnswer(round: Round | null, draft: Draft | null): boolean {
  if (round) return round.calls.length === 0;
  return draft !== null && draft.text !== "" && draft.calls.length === 0;
}

/** The model gives numbers to what it was never shown; that is said in words too. */
function Unsourced({ text, sources }: { text: string; sources: number }) {
  const unknown = useMemo(() => unknownCitations(text, sources), [text, sources]);
  if (unknown.length === 0) return null;
  const numbers = unknown.map((n) => `[${n}]`).join(", ");
  return (
    <p className="turn-note">
      {unknown.length === 1 ? `${numbers} has no source.` : `${numbers} have no source.`}
    </p>
  );
}

export function packed({ index, ids }: Versions): string {
  return [index, ...ids].join(",");
}

function unpacked(text: string): Versions {
  const [index = "0", ...ids] = text.split(",");
  return { index: Number(index), ids };
}
