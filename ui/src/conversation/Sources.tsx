import { useEffect, useRef, useState } from "react";

import { hostOf } from "../parts";
import { safeUrl } from "../prose/Prose";
import type { NumberedSource, Turn } from "../state";
import { callsOf } from "../state";
import { useOpen, useTurnFolds } from "./context";
import { nameCall } from "./toolbox";

interface Props {
  turn: Turn;
  sources: readonly NumberedSource[];
  /** The number that was clicked in the text, and a count so that the same one can be clicked again. */
  cited: { n: number; times: number };
}

const SHOWN = 3;

/** Numbered sources under the answer. Nothing of them is fetched: no pictures, no previews. */
export function Sources({ turn, sources, cited }: Props) {
  const [all, setAll] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  const shown = all || cited.n > SHOWN ? sources : sources.slice(0, SHOWN);
  useEffect(() => {
    if (!cited.n) return;
    const source = list.current?.querySelector<HTMLElement>(`[data-n="${cited.n}"]`);
    source?.scrollIntoView({ block: "nearest" });
    source?.querySelector<HTMLElement>("a, button")?.focus({ preventScroll: true });
  }, [cited]);
  return (
    <ol className="sources" aria-label="Sources" ref={list}>
      {shown.map((source) => (
        <li key={source.n} data-n={source.n}>
          <SourceCard source={source} turn={turn} />
        </li>
      ))}
      {shown.length < sources.length && (
        <li>
          <button type="button" className="source more" onClick={() => setAll(true)}>
            All {sources.length}
          </button>
        </li>
      )}
    </ol>
  );
}

function SourceCard({ source, turn }: { source: NumberedSource; turn: Turn }) {
  const { naming } = useOpen();
  const call = callsOf(turn).find((one) => one.id === source.callId);
  const title = source.title || source.url;
  const { showCall } = useTurnFolds();
  const open = () => showCall(source.callId);
  return (
    <div className="source">
      <span className="cite">{source.n}</span>
      {safeUrl(source.url) ? (
        <b className="cut">
          <a href={source.url} target="_blank" rel="noopener noreferrer" title={source.url}>
            {title}
          </a>
        </b>
      ) : (
        <b className="cut" title={source.url}>
          {title}
        </b>
      )}
      <small>
        <span className="cut">{hostOf(source.url)}</span>
        {call && (
          <>
            {" · "}
            <button
              type="button"
              className="source-call cut"
              title="Show the call that gave it"
              onClick={open}
            >
              {nameCall(naming, call).title}
            </button>
          </>
        )}
      </small>
    </div>
  );
}
