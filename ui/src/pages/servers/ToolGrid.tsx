import { useState } from "react";

import { servers, type ServerTool, type ToolAnnotations } from "../../api";
import { useVerb } from "../../conversation/useVerb";
import { Icon, JsonView, LinkButton, Segments, Tag, grouped, type Json } from "../../parts";

interface Props {
  /** Its id. */
  server: string;
  tools: readonly ServerTool[];
}

/** Two columns of tools; one opens to its definition below. */
export function ToolGrid({ server, tools: known }: Props) {
  const [open, setOpen] = useState("");
  const [corrected, setCorrected] = useState<readonly ServerTool[] | null>(null);
  const tools = corrected ?? known;
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
              <span className="dim">{tool.kind}</span>
              <span className="dim num">{grouped(tool.tokens)} tokens</span>
            </button>
          </li>
        ))}
      </ul>
      {shown && <Definition server={server} tool={shown} onCorrected={setCorrected} />}
    </div>
  );
}

function Mark({ tool }: { tool: ServerTool }) {
  if (tool.changed) return <Tag tone="warn">changed, off</Tag>;
  if (tool.problem) return <Tag tone="bad">cannot be offered</Tag>;
  return <span className="vh">pinned</span>;
}

interface DefinitionProps {
  server: string;
  tool: ServerTool;
  onCorrected: (tools: readonly ServerTool[]) => void;
}

function Definition({ server, tool, onCorrected }: DefinitionProps) {
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
        <dt>What it does</dt>
        <dd>
          <KindPicker server={server} tool={tool} onCorrected={onCorrected} />
        </dd>
        <dt>The server says</dt>
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

const KINDS = [
  { value: "reads", label: "Reads" },
  { value: "changes", label: "Changes" },
  { value: "sends", label: "Sends" },
] as const;

/** Guessed from the tool's name and arguments; a person knows better. Where nothing is set, only what reads runs unasked. */
function KindPicker({ server, tool, onCorrected }: DefinitionProps) {
  const { run, busy, error } = useVerb();
  const correct = (kind: ServerTool["kind"] | null) =>
    void run(async () => onCorrected((await servers.correctKind(server, tool.name, kind)).tools));
  return (
    <>
      <Segments label={`What ${tool.name} does`} value={tool.kind} options={KINDS} onChange={correct} />
      {tool.kind_by ? (
        <LinkButton disabled={busy} onClick={() => correct(null)}>
          Use the guess
        </LinkButton>
      ) : (
        <span className="dim">guessed</span>
      )}
      {error && (
        <span className="bad" role="alert">
          {error}
        </span>
      )}
    </>
  );
}

function claimsOf(claimed: ToolAnnotations): string[] {
  const words: [keyof ToolAnnotations, string, string][] = [
    ["readOnlyHint", "only reads", "changes data"],
    ["destructiveHint", "destructive", "not destructive"],
    ["idempotentHint", "safe to repeat", "not safe to repeat"],
    ["openWorldHint", "contacts other systems", "local only"],
  ];
  return words.flatMap(([key, yes, no]) => (claimed[key] === undefined ? [] : [claimed[key] ? yes : no]));
}
