/** What the cards and rows of the page share: the tools of each running server, and the changes kept off. */

import { useCallback, useEffect, useState } from "react";

import { servers, type Server, type ServerTool } from "../../api";
import { serverList } from "../../app/resources";
import type { ToolsById } from "./needs";

const MOVING_MS = 1500;
const QUIET_MS = 5000;
const KEY = "windlass.keptOff";

/** Looks again while the page is open: often while something moves, seldom else, never in a hidden tab. */
export function useFreshServers(list: readonly Server[]): void {
  const moving = list.some((server) => server.status === "starting" || server.status === "failed");
  useEffect(() => {
    const timer = setInterval(
      () => {
        if (!document.hidden) void serverList.refresh();
      },
      moving ? MOVING_MS : QUIET_MS,
    );
    return () => clearInterval(timer);
  }, [moving]);
}

/** The tools of the servers that run, so that a changed one is seen without opening its server. */
export function useTools(list: readonly Server[]): { tools: ToolsById; again: () => void } {
  const [tools, setTools] = useState<ToolsById>(new Map());
  const [tries, setTries] = useState(0);
  const wanted = list
    .filter((server) => server.status === "running")
    .map((server) => `${server.id} ${server.tool_count}`)
    .join("\n");
  useEffect(() => {
    let open = true;
    const ids = wanted ? wanted.split("\n").map((line) => line.split(" ")[0] ?? "") : [];
    void Promise.all(ids.map(toolsOf)).then((pairs) => open && setTools(new Map(pairs)));
    return () => {
      open = false;
    };
  }, [wanted, tries]);
  return { tools, again: useCallback(() => setTries((n) => n + 1), []) };
}

async function toolsOf(id: string): Promise<[string, ServerTool[]]> {
  try {
    return [id, (await servers.tools(id)).tools];
  } catch {
    return [id, []];
  }
}

/** Definitions a person looked at and left off. They stay off either way; this only clears the desk. */
export function useKeptOff(): { kept: ReadonlySet<string>; keepOff: (hash: string) => void } {
  const [kept, setKept] = useState<ReadonlySet<string>>(readKept);
  const keepOff = (hash: string) => {
    const next = new Set(kept).add(hash);
    setKept(next);
    localStorage.setItem(KEY, JSON.stringify([...next].slice(-200)));
  };
  return { kept, keepOff };
}

function readKept(): Set<string> {
  try {
    return new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]") as string[]);
  } catch {
    return new Set();
  }
}

export async function restart(server: Server): Promise<void> {
  await servers.stop(server.id);
  await servers.start(server.id);
}
