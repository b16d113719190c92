/** What can be picked: prompts of servers, resources, templates and tools. */

import { useEffect, useState } from "react";

import {
  servers,
  type Server,
  type ServerPrompt,
  type ServerResource,
  type ServerTemplate,
  type AvailableTool,
} from "../../api";
import { serverList } from "../../app/resources";
import { Resource, useResource } from "../../app/resource";
import { titleOf } from "../../conversation/toolbox";
import { shortUri } from "../attached";
import type { Trigger } from "./trigger";

interface Shown {
  id: string;
  group: string;
  label: string;
  hint: string;
  server: string;
}

export type Pick = Shown &
  (
    | { kind: "prompt"; prompt: ServerPrompt; completes: boolean }
    | { kind: "resource"; resource: ServerResource }
    | { kind: "template"; template: ServerTemplate }
    | { kind: "tool"; tool: AvailableTool }
  );

const WAIT_MS = 120;
const EACH = 20;
const MOST = 60;

const promptList = new Resource(async () => {
  const running = await runningWith("has_prompts");
  const lists = running.map(async (server) => {
    const { prompts, completes } = await servers
      .prompts(server.id)
      .catch(() => ({ prompts: [], completes: false }));
    return prompts.map((prompt): Pick => ({
      kind: "prompt",
      id: `${server.slug}.${prompt.name}`,
      group: "From servers",
      label: prompt.name,
      hint: prompt.description || prompt.title,
      server: server.slug,
      prompt,
      completes,
    }));
  });
  return (await Promise.all(lists)).flat();
});

const notAsked = new Resource(() => Promise.resolve<readonly Pick[]>([]));

/** Null while nothing is known yet. What was found before stays until the next list is there. */
export function usePicks(trigger: Trigger | null, tools: readonly AvailableTool[]): readonly Pick[] | null {
  const kind = trigger?.kind;
  const prompts = useResource(kind === "/" ? promptList : notAsked).value;
  const [found, setFound] = useState<readonly Pick[] | null>(null);
  const query = trigger?.query ?? "";
  useEffect(() => {
    if (kind === "/") promptList.freshen();
  }, [kind]);
  useEffect(() => {
    if (kind !== "@") return;
    let current = true;
    const timer = setTimeout(
      () => void resourcesFor(query).then((picks) => current && setFound(picks)),
      query ? WAIT_MS : 0,
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [kind, query]);
  if (kind === "/") return prompts && matching(prompts, query);
  if (kind !== "@") return null;
  const named = matching(tools.filter((tool) => tool.enabled).map(toolPick), query);
  return found && [...found, ...named].slice(0, MOST);
}

/** The server searches; of each server some are enough to choose from. */
async function resourcesFor(query: string): Promise<Pick[]> {
  const running = await runningWith("has_resources");
  const lists = running.map(async (server) => {
    const [listed, made] = await Promise.all([
      servers.resources(server.id, query, EACH).catch(() => ({ resources: [] })),
      servers.templates(server.id).catch(() => ({ templates: [] })),
    ]);
    const templates = matching(
      made.templates.map((template) => templatePick(server, template)),
      query,
    );
    return [...listed.resources.map((resource) => resourcePick(server, resource)), ...templates];
  });
  return (await Promise.all(lists)).flat();
}

/** Servers start and stop while somebody types. */
async function runningWith(ability: "has_prompts" | "has_resources"): Promise<readonly Server[]> {
  if (serverList.value === null) await serverList.refresh();
  else serverList.freshen();
  return (serverList.value ?? []).filter((server) => server[ability]);
}

function resourcePick(server: Server, resource: ServerResource): Pick {
  return {
    kind: "resource",
    id: `${server.slug} ${resource.uri}`,
    group: "Resources",
    label: resource.title || resource.name || shortUri(resource.uri),
    hint: resource.uri,
    server: server.slug,
    resource,
  };
}

function templatePick(server: Server, template: ServerTemplate): Pick {
  return {
    kind: "template",
    id: `${server.slug} ${template.uri_template}`,
    group: "Resources",
    label: `${template.title || template.name}…`,
    hint: template.uri_template,
    server: server.slug,
    template,
  };
}

function toolPick(tool: AvailableTool): Pick {
  return {
    kind: "tool",
    id: `tool ${tool.server_slug}.${tool.tool_name}`,
    group: "Tools",
    label: titleOf(tool),
    hint: tool.description,
    server: tool.server_slug,
    tool,
  };
}

function matching(picks: readonly Pick[], query: string): readonly Pick[] {
  const wanted = query.toLowerCase();
  return picks.filter((pick) =>
    `${pick.server}.${pick.label} ${pick.hint} ${pick.id}`.toLowerCase().includes(wanted),
  );
}
