import type { AvailableTool } from "../api";
import { Link, paths } from "../app/router";
import { titleOf } from "../conversation/toolbox";
import { Segments, grouped } from "../parts";
import { setApproval, switchTools } from "./toolChoice";

interface Props {
  id: string;
  server: string;
  tools: readonly AvailableTool[];
  /** Requests do not list all that is on. */
  searched: boolean;
}

/** The tools of one server, with what they cost together. */
export function ToolGroup({ id, server, tools, searched }: Props) {
  const on = tools.filter((tool) => tool.enabled);
  const mixed = on.length > 0 && on.length < tools.length;
  return (
    <>
      <div className="grp">
        <input
          type="checkbox"
          className="box"
          aria-label={`All tools of ${server}`}
          checked={on.length === tools.length}
          ref={(box) => {
            if (box) box.indeterminate = mixed;
          }}
          onChange={() => void switchTools(id, tools, on.length < tools.length)}
        />
        <b>{server}</b>
        <span className="dim num">
          {on.length} of {tools.length} on
        </span>
        <span className="grow" />
        <span className="cost">{grouped(on.reduce((sum, tool) => sum + tool.tokens, 0))} tokens</span>
      </div>
      {tools.map((tool) => (
        <Offer key={tool.name} id={id} tool={tool} searched={searched && tool.enabled && !tool.listed} />
      ))}
    </>
  );
}

function Offer({ id, tool, searched }: { id: string; tool: AvailableTool; searched: boolean }) {
  const title = titleOf(tool);
  return (
    <div className={tool.enabled ? "offer" : "offer off"}>
      <input
        type="checkbox"
        className="box"
        aria-label={title}
        checked={tool.enabled}
        disabled={tool.changed}
        onChange={() => void switchTools(id, [tool], !tool.enabled)}
      />
      <span className="t">
        <b title={tool.tool_name}>{title}</b>
        <small className="cut" title={tool.description}>
          {tool.changed ? "Off: the server changed its description" : firstSentence(tool.description)}
        </small>
      </span>
      <span
        className="cost"
        title={searched ? `Found by search; ${tool.tokens} tokens once it is listed` : undefined}
      >
        {tool.changed ? "" : searched ? "search" : tool.tokens}
      </span>
      <span className="mode">
        {tool.changed ? (
          <Link className="warn" href={paths.servers}>
            Look at the change
          </Link>
        ) : (
          tool.enabled && (
            <Segments
              label={`Approval of ${title}`}
              value={tool.approval}
              onChange={(approval) => void setApproval(id, tool, approval)}
              options={[
                { value: "", label: "Default" },
                { value: "auto", label: "Auto" },
                { value: "ask", label: "Ask" },
                { value: "deny", label: "Deny" },
              ]}
            />
          )
        )}
      </span>
    </div>
  );
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s|\n/, 1)[0]?.replace(/\.$/, "") ?? "";
}
