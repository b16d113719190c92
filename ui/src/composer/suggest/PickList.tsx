import { useEffect, useRef } from "react";

import { Icon, Tag } from "../../parts";
import type { Pick } from "./picks";

interface Props {
  id: string;
  kind: "/" | "@";
  picks: readonly Pick[];
  active: number;
  onTake: (pick: Pick) => void;
}

const ICONS = { prompt: "write", resource: "doc", template: "doc", tool: "tools" } as const;

/** What matches, in groups; the focus stays in the message box. */
export function PickList({ id, kind, picks, active, onTake }: Props) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const label = kind === "/" ? "Prompts" : "Resources and tools";
  return (
    <div className="suggest" role="listbox" id={id} aria-label={label} ref={list}>
      {picks.map((pick, index) => (
        <div key={pick.id}>
          {pick.group !== picks[index - 1]?.group && (
            <p className="suggest-group dim" aria-hidden="true">
              {pick.group}
            </p>
          )}
          <div
            className="suggest-row"
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === active}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onTake(pick)}
          >
            <Icon name={ICONS[pick.kind]} />
            <bdi className="cut">{pick.label}</bdi>
            <bdi className="dim cut grow">{pick.hint}</bdi>
            <Tag>{pick.server}</Tag>
          </div>
        </div>
      ))}
    </div>
  );
}
