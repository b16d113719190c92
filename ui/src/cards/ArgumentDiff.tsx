import { visible } from "../conversation/KeyValues";
import type { Changes } from "./changes";

/** All arguments, with two lines for each that was changed: as the model wrote it, and as it is sent. */
export function ArgumentDiff({ before, now, names }: Changes) {
  const all = [...new Set([...Object.keys(before), ...Object.keys(now ?? {})])];
  return (
    <div className="args-box changed" tabIndex={0} role="group" aria-label="Arguments, with your changes">
      <dl className="argdiff">
        {all.map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            {names.includes(name) ? (
              <dd className="ch">
                {name in before && <Line tag="del" sign="−" spoken="was" value={before[name]} />}
                {now && name in now && <Line tag="ins" sign="+" spoken="now" value={now[name]} />}
              </dd>
            ) : (
              <dd>{shown(before[name])}</dd>
            )}
          </div>
        ))}
      </dl>
    </div>
  );
}

interface LineProps {
  tag: "del" | "ins";
  sign: string;
  spoken: string;
  value: unknown;
}

function Line({ tag: Tag, sign, spoken, value }: LineProps) {
  return (
    <Tag>
      <i aria-hidden="true">{sign}</i>
      <span className="vh">{spoken} </span>
      {shown(value)}
    </Tag>
  );
}

function shown(value: unknown): string {
  return visible(typeof value === "string" ? value : JSON.stringify(value));
}
