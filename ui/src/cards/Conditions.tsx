import { useState } from "react";

import type { Values } from "../form/schema";
import { LinkButton } from "../parts";
import { plainArguments, type GrantDraft } from "./grant";

interface Props {
  given: Values;
  draft: GrantDraft;
  onChange: (more: Partial<GrantDraft>) => void;
}

/** The arguments that a grant is bound to, each as it is now or as a pattern. */
export function Conditions({ given, draft, onChange }: Props) {
  const [edited, setEdited] = useState("");
  const { bound, patterns } = draft;
  const bind = (name: string, on: boolean) =>
    onChange({ bound: on ? [...bound, name] : bound.filter((one) => one !== name) });
  return (
    <ul className="conditions">
      {plainArguments(given).map(([name, value]) => {
        const pattern = patterns[name];
        return (
          <li key={name}>
            <label className="check">
              <input
                type="checkbox"
                className="box"
                checked={bound.includes(name)}
                onChange={(event) => bind(name, event.target.checked)}
              />
              <code>
                {name} {pattern === undefined ? `is ${shown(given[name])}` : `matches ${shown(pattern)}`}
              </code>
            </label>
            {edited === name ? (
              <input
                className="input mono"
                aria-label={`${name} matches`}
                autoFocus
                value={pattern ?? value}
                onChange={(event) => onChange({ patterns: { ...patterns, [name]: event.target.value } })}
                onBlur={() => setEdited("")}
                onKeyDown={(event) => {
                  if (event.key !== "Enter" && event.key !== "Escape") return;
                  event.preventDefault();
                  event.stopPropagation();
                  setEdited("");
                }}
              />
            ) : (
              bound.includes(name) && (
                <LinkButton aria-label={`Edit ${name}`} onClick={() => setEdited(name)}>
                  Edit
                </LinkButton>
              )
            )}
          </li>
        );
      })}
    </ul>
  );
}

function shown(value: unknown): string {
  return JSON.stringify(value);
}
