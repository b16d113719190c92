/** Draws a part of an open conversation without a server: the state is given, verbs are recorded. */

import { render, type RenderResult } from "@testing-library/react";
import type { ReactNode } from "react";
import { vi } from "vitest";

import type { AvailableTool } from "../api";
import { OpenConversation } from "../conversation/context";
import { ConversationStore } from "../conversation/store";
import { namingFrom } from "../conversation/toolbox";
import { replay, type Event, type Turn } from "../state";
import { scene } from "./scenes";

export interface Sent {
  method: string;
  path: string;
  body: unknown;
}

/** Every request the page makes, answered with `answer`. */
export function recordRequests(
  answer: unknown = { success: true, rules: [], operator_rules: [], servers: [] },
  status = 200,
): Sent[] {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as unknown) : undefined;
    sent.push({ method: init.method ?? "GET", path, body });
    return Promise.resolve(new Response(JSON.stringify(answer), { status }));
  });
  return sent;
}

export function drawOpen(children: ReactNode, tools: AvailableTool[] = [], toolsKnown = true): RenderResult {
  const open = { store: new ConversationStore("conv-test"), naming: namingFrom(tools), toolsKnown };
  return render(<OpenConversation value={open}>{children}</OpenConversation>);
}

export function turnOf(log: string | Event[], id: string): Turn {
  const turn = replay(typeof log === "string" ? scene(log) : log).turns.get(id);
  if (!turn) throw new Error(`no turn ${id}`);
  return turn;
}

export function tool(
  server_slug: string,
  tool_name: string,
  more: Partial<AvailableTool> = {},
): AvailableTool {
  return {
    server_id: `server-${server_slug}`,
    server_slug,
    server_name: server_slug,
    tool_name,
    name: `${server_slug}__${tool_name}`,
    description: "",
    input_schema: { type: "object", properties: {} },
    annotations: {},
    kind: "changes",
    approval: "",
    tokens: 100,
    enabled: true,
    title: "",
    changed: false,
    listed: true,
    ...more,
  };
}
