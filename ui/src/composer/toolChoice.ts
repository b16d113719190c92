/** Turning tools on and off, shown at once and then asked of the server. */

import { tools as verbs, type Approval, type AvailableTool } from "../api";
import { titleOf, toolsOf } from "../conversation/toolbox";

export function groupsOf(tools: readonly AvailableTool[]): [string, AvailableTool[]][] {
  const groups = new Map<string, AvailableTool[]>();
  for (const tool of tools) groups.set(tool.server_slug, [...(groups.get(tool.server_slug) ?? []), tool]);
  return [...groups];
}

export function matching(tools: readonly AvailableTool[], words: string): AvailableTool[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return tools.filter((tool) => {
    const text = `${titleOf(tool)} ${tool.tool_name} ${tool.server_slug} ${tool.description}`.toLowerCase();
    return wanted.every((term) => text.includes(term));
  });
}

export async function switchTools(id: string, tools: readonly AvailableTool[], on: boolean): Promise<void> {
  const names = new Set(tools.filter((tool) => !tool.changed).map((tool) => tool.name + tool.server_id));
  show(id, (tool) =>
    names.has(tool.name + tool.server_id)
      ? { ...tool, enabled: on, approval: on && !tool.enabled ? "" : tool.approval }
      : tool,
  );
  const chosen = tools.filter((tool) => names.has(tool.name + tool.server_id) && tool.enabled !== on);
  for (const tool of chosen)
    await (
      on
        ? verbs.enable(id, tool.server_id, tool.tool_name, undefined, tools.length === 1)
        : verbs.disable(id, tool.server_id, tool.tool_name)
    ).catch(() => undefined);
  await toolsOf(id).refresh();
}

/** "" leaves it to what the tool does, and to the rules. */
export async function setApproval(id: string, tool: AvailableTool, approval: Approval | ""): Promise<void> {
  show(id, (one) =>
    one.name === tool.name && one.server_id === tool.server_id ? { ...one, approval } : one,
  );
  await verbs.enable(id, tool.server_id, tool.tool_name, approval || undefined).catch(() => undefined);
  await toolsOf(id).refresh();
}

function show(id: string, change: (tool: AvailableTool) => AvailableTool): void {
  toolsOf(id).change((value) => ({ ...value, available_tools: value.available_tools.map(change) }));
}
