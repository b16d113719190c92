/** Which servers need a person, most urgent first, and which do not. */

import type { Server, ServerTool } from "../../api";

export type Need = "draft" | "sign_in" | "changed" | "failed";

export interface Needy {
  server: Server;
  need: Need;
  /** Changed tools nobody has decided on. */
  changed: readonly ServerTool[];
}

export interface Sorted {
  needy: readonly Needy[];
  others: readonly Server[];
}

export type ToolsById = ReadonlyMap<string, readonly ServerTool[]>;

export function sorted(servers: readonly Server[], tools: ToolsById, keptOff: ReadonlySet<string>): Sorted {
  const needy: Needy[] = [];
  const others: Server[] = [];
  for (const server of servers) {
    const changed = (tools.get(server.id) ?? []).filter((tool) => tool.changed && !keptOff.has(tool.hash));
    const need = needOf(server, changed.length);
    if (need) needy.push({ server, need, changed });
    else others.push(server);
  }
  return { needy: needy.toSorted((a, b) => ORDER.indexOf(a.need) - ORDER.indexOf(b.need)), others };
}

const ORDER: Need[] = ["draft", "sign_in", "changed", "failed"];

function needOf(server: Server, changed: number): Need | null {
  if (server.status === "draft") return "draft";
  if (server.status === "needs_sign_in") return "sign_in";
  if (server.status === "failed") return "failed";
  return changed > 0 ? "changed" : null;
}
