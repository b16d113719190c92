import { memo, useCallback, useMemo, useState } from "react";

import { unknownCitations } from "../prose/citations";
import { sourcesOf, type Turn, type Versions } from "../state";
import { DraftRound, RoundView } from "./RoundView";
import { Opening } from "./Opening";
import { Sources } from "./Sources";
import { TurnBanner } from "./TurnBanner";
import { TurnEnd } from "./TurnEnd";

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
  const draft = hasWords(turn) ? turn.draft : null;
  const lastRound = turn.rounds.at(-1);
  const strip = sources.length > 0 && <Sources turn={turn} sources={sources} cited={cited} />;
  return (
    <article className="turn" id={turn.id} tabIndex={-1} data-turn>
      <Opening turn={turn} wordings={unpacked(wordings)} />
      {turn.rounds.map((round) => (
        <RoundView
          key={round.n}
          turn={turn}
          round={round}
          last={round === lastRound && !draft}
          picked={inspected && round.n === inspectedRound}
          sources={sources.length}
          onCite={onCite}
        >
          {round === lastRound && !draft && round.calls.length === 0 && strip}
        </RoundView>
      ))}
      {draft && (
        <DraftRound turn={turn} draft={draft} sources={sources.length} onCite={onCite}>
          {draft.text && draft.calls.length === 0 && strip}
        </DraftRound>
      )}
      <Unsourced text={draft ? "" : (lastRound?.reply.text ?? "")} sources={sources.length} />
      <TurnBanner turn={turn} />
      <TurnEnd turn={turn} answers={unpacked(answers)} inspected={inspected} />
    </article>
  );
});

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

function hasWords({ draft }: Turn): boolean {
  return Boolean(draft && (draft.text || draft.reasoning || draft.calls.length || draft.lost));
}

export function packed({ index, ids }: Versions): string {
  return [index, ...ids].join(",");
}

function unpacked(text: string): Versions {
  const [index = "0", ...ids] = text.split(",");
  return { index: Number(index), ids };
}
