import { useState } from "react";

import { Icon } from "./Icon";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Props {
  value: Json;
  /** How many levels are open at first. */
  open?: number;
}

const MANY = 100;
const SHORT = 64;

/** JSON as a tree: small values on one line, large ones folded, long lists a hundred at a time. */
export function JsonView({ value, open = 2 }: Props) {
  return (
    <div className="pre json" tabIndex={0} aria-label="JSON">
      <Node value={value} name={null} open={open} />
    </div>
  );
}

function Node({ value, name, open }: { value: Json; name: string | null; open: number }) {
  const short = typeof value === "object" && value !== null ? oneLine(value) : true;
  return short ? (
    <div className="json-line">
      <Key name={name} />
      <Inline value={value} />
    </div>
  ) : (
    <Branch value={value as Json[] | Record<string, Json>} name={name} open={open} />
  );
}

function Branch({
  value,
  name,
  open,
}: {
  value: Json[] | Record<string, Json>;
  name: string | null;
  open: number;
}) {
  const [shown, setShown] = useState(open > 0);
  const [count, setCount] = useState(MANY);
  const entries = Object.entries(value);
  const size = Array.isArray(value) ? `${entries.length} items` : `${entries.length} fields`;
  return (
    <div>
      <button
        type="button"
        className="json-line json-fold"
        aria-expanded={shown}
        onClick={() => setShown(!shown)}
      >
        <Icon name={shown ? "down" : "right"} />
        <Key name={name} />
        <span className="c">{size}</span>
      </button>
      {shown && (
        <div className="json-in">
          {entries.slice(0, count).map(([key, inner]) => (
            <Node key={key} name={key} value={inner} open={open - 1} />
          ))}
          {entries.length > count && (
            <button type="button" className="link-btn" onClick={() => setCount(count + MANY)}>
              {entries.length - count} more
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Key({ name }: { name: string | null }) {
  return name === null ? null : <span>{name}: </span>;
}

function Inline({ value }: { value: Json }) {
  if (typeof value === "string") return <span className="s">{JSON.stringify(value)}</span>;
  if (typeof value !== "object" || value === null) return <span className="n">{String(value)}</span>;
  const list = Array.isArray(value);
  const entries = Object.entries(value);
  return (
    <>
      {list ? "[" : "{ "}
      {entries.map(([key, inner], n) => (
        <span key={key}>
          {!list && `${key}: `}
          <Inline value={inner} />
          {n < entries.length - 1 && ", "}
        </span>
      ))}
      {list ? "]" : " }"}
    </>
  );
}

function oneLine(value: Json[] | Record<string, Json>): boolean {
  const nested = Object.values(value).some((inner) => typeof inner === "object" && inner !== null);
  return !nested && JSON.stringify(value).length <= SHORT;
}

/** The value of a text that is JSON worth a tree, or undefined. */
export function parseJson(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
