import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";

import { tool } from "../testing/open";
import { serve } from "../testing/server";
import { ToolsPicker } from "./ToolsPicker";

const COST = {
  tools: 3,
  tokens: 300,
  listed_tools: 1,
  listed_tokens: 100,
  budget_tools: 1,
  budget_tokens: 15000,
  exceeded: true,
};
const TOOLS = [
  tool("files", "read", { title: "Read" }),
  tool("files", "write", { title: "Write", listed: false }),
  tool("mail", "send", { title: "Send", listed: false, enabled: false }),
  tool("mail", "find", { title: "Find", listed: false, enabled: false }),
];
const NOTHING = { enabled_tools: [], count: 0 };

async function opened(id: string, cost: object) {
  const asked = serve({
    [`GET /conversations/${id}/tools/available`]: {
      available_tools: TOOLS,
      count: 4,
      unavailable: [],
      cost,
    },
    [`POST /conversations/${id}/tools`]: NOTHING,
    "GET /personas": { personas: [], count: 0 },
  });
  render(<ToolsPicker conversationId={id} persona="" onBegin={() => undefined} />);
  fireEvent.click(await screen.findByRole("button", { name: /2 tools/ }));
  await screen.findByRole("checkbox", { name: "Read" });
  return asked;
}

test("beyond the budget the picker says what requests list and which tools are found by search", async () => {
  await opened("conv-many", COST);
  expect(screen.getByText("2 tools on, 1 listed, 100 tokens in every request")).toBeTruthy();
  expect(screen.getAllByText("search")).toHaveLength(1);
});

test("within the budget every tool that is on is counted", async () => {
  await opened("conv-few", { ...COST, exceeded: false });
  expect(screen.getByText("2 tools on, 200 tokens in every request")).toBeTruthy();
  expect(screen.queryByText("search")).toBeNull();
});

test("a tool ticked alone is picked, and those of a whole server are not", async () => {
  const asked = await opened("conv-pick", COST);
  const sent = () => asked.filter(({ method }) => method === "POST").map(({ body }) => body);
  fireEvent.click(screen.getByRole("checkbox", { name: "All tools of mail" }));
  await waitFor(() => expect(sent()).toHaveLength(2));
  expect(sent()).toEqual([
    { server_id: "server-mail", tool_name: "send", picked: false },
    { server_id: "server-mail", tool_name: "find", picked: false },
  ]);
  fireEvent.click(await screen.findByRole("checkbox", { name: "Find" }));
  await waitFor(() => expect(sent()).toHaveLength(3));
  expect(sent()[2]).toEqual({ server_id: "server-mail", tool_name: "find" });
});
