import { useState } from "react";

import { servers, type Server, type ServerTool } from "../../api";
import { useVerb } from "../../conversation/useVerb";
import { Button, Icon, JsonView, Problem, plural, type Json } from "../../parts";
import { Diff } from "./Diff";
import { toolDiff } from "./toolDiff";

interface Props {
  server: Server;
  changed: readonly ServerTool[];
  onKeepOff: (hash: string) => void;
  onAccepted: () => void;
}

/** Tools that are not what was allowed. They are off; keeping them off is the safe answer. */
export function ChangedCard({ server, changed, onKeepOff, onAccepted }: Props) {
  const others = server.tool_count - changed.length;
  return (
    <section className="panel" aria-label={`${server.name}, changed tools`}>
      <div className="panel-head">
        <h3>{server.name}</h3>
        <span className="status warn">
          <Icon name="lock" />
          {plural(changed.length, "tool")} changed
        </span>
        {others > 0 && <span className="dim num">{plural(others, "other")} still run</span>}
      </div>
      {changed.map((tool) => (
        <ChangedTool
          key={tool.name}
          server={server}
          tool={tool}
          onKeepOff={() => onKeepOff(tool.hash)}
          onAccepted={onAccepted}
        />
      ))}
    </section>
  );
}

interface ToolProps {
  server: Server;
  tool: ServerTool;
  onKeepOff: () => void;
  onAccepted: () => void;
}

function ChangedTool({ server, tool, onKeepOff, onAccepted }: ToolProps) {
  const [accepting, setAccepting] = useState(false);
  const { run, busy, error } = useVerb();
  const accept = async () => {
    if (await run(() => servers.accept(server.id, tool.name, tool.hash))) onAccepted();
  };
  return (
    <div className="panel-body changed-tool">
      <p>
        <strong>{tool.name}</strong> changed after you allowed it. It is off until you decide.
      </p>
      <Difference tool={tool} />
      {accepting && <p>From now on this definition is the one that is allowed. Read all of it first.</p>}
      <div className="panel-foot">
        <Button look="primary" disabled={busy} onClick={accepting ? () => setAccepting(false) : onKeepOff}>
          {accepting ? "Back" : "Keep it off"}
        </Button>
        <Button disabled={busy} onClick={accepting ? accept : () => setAccepting(true)}>
          {accepting ? "Accept this definition" : "Accept the change…"}
        </Button>
        <span className="grow" />
        <span className="dim mono">{tool.hash.slice(0, 12)}</span>
      </div>
      <Problem what="Couldn’t accept the change." error={error} />
    </div>
  );
}

function Difference({ tool }: { tool: ServerTool }) {
  if (tool.was) return <Diff sections={toolDiff(tool.was, tool)} />;
  return (
    <>
      <p className="dim">What it was before is not known here. This is what it is now:</p>
      <div className="quote">{tool.description}</div>
      <JsonView value={tool.input_schema as Json} />
    </>
  );
}
