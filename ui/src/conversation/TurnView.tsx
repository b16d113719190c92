import { memo, useCallback, useMemo, useState } from "react";

import { unknownCitations } from "../prose/citations";
import { sourcesOf, type Draft, type Round, type Turn, type Versions } from "../state";
import { RoundView } from "./RoundView";
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
  const entries = entriesOf(turn);
  const answer = entries.at(-1)?.round?.reply.text ?? "";
  const strip = sources.length > 0 && <Sources turn={turn} sources={sources} cited={cited} />;
  return (
    <article className="turn" id={turn.id} tabIndex={-1} data-turn>
      <Opening turn={turn} wordings={unpacked(wordings)} />
      {entries.map(({ n, round, draft }) => {
        const last = n === entries.length;
        const ends =
          last && (round ? round.calls.length === 0 : draft?.text !== "" && draft?.calls.length === 0);
        return (
          <RoundView
            key={n}
            turn={turn}
            n={n}
            round={round}
            draft={draft}
            last={last}
            picked={inspected && n === inspectedRound}
            sources={sources.length}
            onCite={onCite}
          >
            {ends && strip}
          </RoundView>
        );
      })}
      <Unsourced text={answer} sources={sources.length} />
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

interface Entry {
  n: number;
  round: Round | null;
  draft: Draft | null;
}

/** What was replied, then what is being written: one list, so that a reply keeps its place when it is complete. */
function entriesOf(turn: Turn): Entry[] {
  const entries = turn.rounds.map((round): Entry => ({ n: round.n, round, draft: null }));
  return hasText(turn) ? [...entries, { n: entries.length + 1, round: null, draft: turn.draft }] : entries;
}

function hasText({ draft }: Turn): boolean {
  return Boolean(draft && (draft.text || draft.reasoning || draft.calls.length || draft.lost));
}

export function packed({ index, ids }: Versions): string {
  return [index, ...ids].join(",");
}

function unpacked(text: string): Versions {
  const [index = "0", ...ids] = text.split(",");
  return { index: Number(index), ids };
}
