/** What a new conversation will have on, before there is one to ask about. */

import { useEffect } from "react";

import { get } from "../api";
import { Resource, useResource } from "../app/resource";
import { lastToolCost, serverList } from "../app/resources";

interface Sum {
  count: number;
  /** In each request. */
  sent: number;
  names: string[];
}

interface Listed {
  name: string;
  tokens: number;
}

const sum = new Resource(async (): Promise<Sum> => {
  const cost = lastToolCost();
  const offering = (serverList.value ?? []).filter(
    (server) => server.status === "running" && server.tools === "*",
  );
  const lists = await Promise.all(
    offering.map((server) => get<{ tools: Listed[] }>(`/servers/${encodeURIComponent(server.id)}/tools`)),
  );
  const tools = lists.flatMap((list) => list.tools);
  return {
    count: tools.length,
    sent: cost?.exceeded ? cost.listed_tokens : tools.reduce((total, tool) => total + tool.tokens, 0),
    names: tools.map((tool) => tool.name),
  };
});

const NONE: Sum = { count: 0, sent: 0, names: [] };
const nothing = new Resource(() => Promise.resolve(NONE));

/** Asked again when a server has come or gone: at the first visit most are still starting. */
export function useDefaultTools(wanted: boolean): Sum {
  const offering = useResource(serverList).value?.filter((server) => server.status === "running");
  const running = offering?.map((server) => `${server.id} ${server.tool_count}`).join(",") ?? "";
  useEffect(() => {
    if (wanted && running) void sum.refresh();
  }, [wanted, running]);
  return useResource(wanted ? sum : nothing).value ?? NONE;
}
