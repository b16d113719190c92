import { useState } from "react";

import type { ServerTool, ToolAnnotations } from "../../api";
import { Icon, JsonView, Tag, grouped, type Json } from "../../parts";

/** Two columns of tools; one opens to its definition below. */
export function ToolGrid({ tools }: { tools: readonly ServerTool[] }) {
  const [open, setOpen] = useState("");
  const shown = tools.find((tool) => tool.name === open);
  return (
    <div className="tools-of">
      <ul className={tools.length % 2 ? "toolgrid odd" : "toolgrid"}>
        {tools.map((tool) => (
          <li key={tool.name}>
            <button
              type="button"
              aria-expanded={tool.name === open}
              onClick={() => setOpen(tool.name === open ? "" : tool.name)}
            >
              <Icon name={tool.changed || tool.problem ? "alert" : "lock"} />
              <b className="cut">{tool.name}</b>
              <span className="grow" />
              <Mark tool={tool} />
              <span className="dim num">{grouped(tool.tokens)} tokens</span>
            </button>
          </li>
        ))}
      </ul>
      {shown && <Definition tool={shown} />}
    </div>
  );
}

function Mark({ tool }: { tool: ServerTool }) {
  if (tool.changed) return <Tag tone="warn">changed, off</Tag>;
  if (tool.problem) return <Tag tone="bad">cannot be offered</Tag>;
  return <span className="vh">pinned</span>;
}

function Definition({ tool }: { tool: ServerTool }) {
  const claims = claimsOf(tool.annotations);
  return (
    <div className="definition">
      <dl className="facts">
        <dt>Exact name</dt>
        <dd>
          <code>{tool.name}</code>
          {tool.title && <span className="dim">{tool.title}</span>}
        </dd>
        <dt>What it says</dt>
        <dd className="says">{tool.description || <span className="dim">nothing</span>}</dd>
        <dt>Claimed by server</dt>
        <dd>
          {claims.map((claim) => (
            <Tag key={claim}>{claim}</Tag>
          ))}
          <span className="dim">{claims.length > 0 ? "not checked" : "nothing"}</span>
        </dd>
        <dt>Pinned as</dt>
        <dd>
          <code>{tool.hash}</code>
        </dd>
        {tool.problem && (
          <>
            <dt>Problem</dt>
            <dd className="bad">{tool.problem}</dd>
          </>
        )}
      </dl>
      <JsonView value={tool.input_schema as Json} open={3} />
    </div>
  );
}

function claimsOf(claimed: ToolAnnotations): string[] {
  const words: [keyof ToolAnnotations, string, string][] = [
    ["readOnlyHint", "only reads", "changes data"],
    ["destructiveHint", "destructive", "not destructive"],
    ["idempotentHint", "safe to repeat", "not safe to repeat"],
    ["openWorldHint", "reaches outside", "stays inside"],
  ];
  return words.flatMap(([key, yes, no]) => (claimed[key] === undefined ? [] : [claimed[key] ? yes : no]));
}
