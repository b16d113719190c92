/** The names of tools as a person sees them, and what is known of each. */

import { tools, type AvailableTool, type AvailableTools, type Server } from "../api";
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
  serverId: string;
  /** What the server says of it; null when it is not running now. */
  tool: AvailableTool | null;
  /** Other servers that have a tool of this name. */
  twins: readonly string[];
}

export type Naming = (name: string, server?: string) => Named;

/**
 * Names calls by the tools there are; one that is gone still gets a readable name. Two servers may have a tool of the
 * same name, so a call whose server is known is only ever named after that server.
 */
export function namingFrom(
  available: readonly AvailableTool[],
  servers: readonly Pick<Server, "id" | "slug">[] = [],
): Naming {
  const slugs = new Map([
    ...servers.map(({ id, slug }): [string, string] => [id, slug]),
    ...available.map((tool): [string, string] => [tool.server_id, tool.server_slug]),
  ]);
  const byServer = new Map(
    [...slugs.keys()].map((id) => [id, namesOf(available.filter((tool) => tool.server_id === id))]),
  );
  const offered = namesOf(available.filter((tool) => tool.enabled));
  const others = namesOf(available);
  return (name, server = "") => {
    const tool = (server ? byServer.get(server)?.get(name) : (offered.get(name) ?? others.get(name))) ?? null;
    if (tool)
      return {
        title: titleOf(tool),
        server: tool.server_slug,
        serverId: tool.server_id,
        tool,
        twins: twinsOf(available, tool.tool_name, tool.server_id),
      };
    const slug = slugs.get(server) || readable(server) || prefixOf(name);
    const plain = slug && name.startsWith(`${slug}__`) ? name.slice(slug.length + 2) : name;
    const twins = server ? twinsOf(available, plain, server) : [];
    return { title: humanised(plain), server: slug, serverId: server, tool: null, twins };
  };
}

function twinsOf(available: readonly AvailableTool[], toolName: string, serverId: string): string[] {
  return available
    .filter((tool) => tool.tool_name === toolName && tool.server_id !== serverId)
    .map((tool) => tool.server_slug);
}

/** Tools by every name a call may have, the offered one first. A name that two tools share belongs to neither. */
function namesOf(tools: readonly AvailableTool[]): Map<string, AvailableTool | null> {
  const found = new Map<string, AvailableTool | null>();
  const ways: ((tool: AvailableTool) => string)[] = [
    (tool) => tool.name,
    (tool) => tool.tool_name,
    (tool) => `${tool.server_slug}__${tool.tool_name}`,
  ];
  for (const way of ways) {
    const known = new Set(found.keys());
    for (const tool of tools) {
      const name = way(tool);
      if (!known.has(name)) found.set(name, found.has(name) ? null : tool);
    }
  }
  return found;
}

/** `slug__tool` is how a tool is offered when two servers have it. */
function prefixOf(name: string): string {
  return name.includes("__") ? name.slice(0, name.indexOf("__")) : "";
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
