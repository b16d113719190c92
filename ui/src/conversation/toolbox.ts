/** The names of tools as a person sees them, and what is known of each. */

import { tools, type AvailableTool, type AvailableTools } from "../api";
import { Resource } from "../app/resource";
import { humanised } from "../parts";
import type { Call } from "../state";

const known = new Map<string, Resource<AvailableTools>>();

export function toolsOf(conversationId: string): Resource<AvailableTools> {
  let resource = known.get(conversationId);
  if (!resource) {
    resource = new Resource(() => tools.available(conversationId));
    known.set(conversationId, resource);
  }
  return resource;
}

export interface Named {
  title: string;
  server: string;
  /** What the server says of it; null when it is not running now. */
  tool: AvailableTool | null;
}

export type Naming = (name: string, server?: string) => Named;

/** Names calls by the tools there are; one that is gone still gets a readable name. */
export function namingFrom(available: readonly AvailableTool[]): Naming {
  const byName = new Map(available.map((tool) => [tool.name, tool]));
  const byPlace = new Map(available.map((tool) => [`${tool.server_slug}__${tool.tool_name}`, tool]));
  const slugs = new Map(available.map((tool) => [tool.server_id, tool.server_slug]));
  return (name, server = "") => {
    const tool = byName.get(name) ?? byPlace.get(name) ?? null;
    if (tool) return { title: titleOf(tool), server: tool.server_slug, tool };
    const [slug, plain] = name.includes("__") ? name.split("__", 2) : ["", name];
    return {
      title: humanised(plain ?? name),
      server: slug || (slugs.get(server) ?? readable(server)),
      tool: null,
    };
  };
}

/** The id of a server from the settings holds its slug; any other id says nothing to a person. */
function readable(serverId: string): string {
  return serverId.startsWith("srv-") ? "" : serverId.replace(/^server-/, "");
}

export function titleOf(tool: AvailableTool): string {
  return tool.title || tool.annotations.title || humanised(tool.tool_name);
}

export function nameCall(naming: Naming, call: Call): Named {
  return naming(call.spec.name, call.judged?.server);
}
