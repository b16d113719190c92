import { expect, test } from "vitest";

import { replay } from "../../state";
import { scene } from "../../testing/scenes";
import { otherFields, promptParts, sumOf } from "./promptParts";

const turn = replay(scene("pool-done")).turns.get("turn-b")!;
const words = turn.opening[0]!.content!;

const BODY = {
  model: "glm-4.7",
  temperature: 0.7,
  stream: true,
  messages: [
    { role: "system", content: "You are a careful researcher.".repeat(10) },
    { role: "user", content: "What does the pool do?" },
    { role: "assistant", content: "It retries every 5 s." },
    { role: "user", content: words },
    {
      role: "assistant",
      content: null,
      tool_calls: turn.rounds[0]!.calls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.spec.name, arguments: call.spec.arguments },
      })),
    },
    ...turn.rounds[0]!.calls.map((call) => ({
      role: "tool",
      tool_call_id: call.id,
      content:
        call.spec.name === "web_search"
          ? '<result-0f1e tool="web_search" trust="untrusted">\nx\n</result-0f1e>'
          : "{}",
    })),
  ],
  tools: [{ type: "function", function: { name: "files__read_file", description: "Reads", parameters: {} } }],
};

const parts = promptParts(BODY, turn, turn.rounds[1]);

test("earlier turns are one row with their messages inside", () => {
  expect(parts.map((part) => part.role)).toEqual([
    "system",
    "tools",
    "history",
    "user",
    "assistant",
    "tool",
    "tool",
    "tool",
    "tool",
  ]);
  const history = parts[2]!;
  expect(history.summary).toBe("1 earlier turn, 2 messages");
  expect(history.inside.map((row) => row.role)).toEqual(["user", "assistant"]);
});

test("the rows add up to what the provider counted", () => {
  const counted = turn.rounds[1]!.reply.usage!.prompt!;
  expect(counted).toBeGreaterThan(0);
  expect(Math.abs(sumOf(parts) - counted)).toBeLessThan(parts.length);
});

test("results are named by their tool, and say how they ended", () => {
  expect(parts.slice(5).map((part) => part.summary)).toEqual([
    "files.read_file",
    "docs.search_docs",
    "web_search",
    "tracker.search_issues, error",
  ]);
  expect(parts[7]!.marks).toContain("untrusted");
});

test("what the provider cached is marked from the top", () => {
  const round = turn.rounds[1]!;
  const usage = { ...round.reply.usage!, prompt: sumOf(parts), cached: parts[0]!.tokens + parts[1]!.tokens };
  const marked = promptParts(BODY, turn, { ...round, reply: { ...round.reply, usage } });
  expect(marked.map((part) => part.marks.includes("cached"))).toEqual([
    true,
    true,
    ...marked.slice(2).map(() => false),
  ]);
});

test("the rest of the request is not lost", () => {
  expect(otherFields(BODY).map(([name]) => name)).toEqual(["model", "temperature", "stream"]);
});

test("the message with pictures of results is no turn, and shows a note where bytes were", () => {
  const seen = [
    { type: "text", text: "To be seen or heard in the result of look, call c1:" },
    { type: "image_url", image_url: { url: "data:image/png;base64,(14 kB, part 0 of result-1)" } },
    { type: "input_audio", input_audio: { data: "(2 kB, part 1 of result-1)", format: "wav" } },
  ];
  const [system, ...rest] = BODY.messages;
  const body = { ...BODY, messages: [system, rest[0], { role: "user", content: seen }, ...rest.slice(1)] };
  const history = promptParts(body, turn, turn.rounds[1])[2]!;
  expect(history.summary).toBe("1 earlier turn, 3 messages");
  expect(history.inside[1]!.text.split("\n")).toEqual([
    "To be seen or heard in the result of look, call c1:",
    "data:image/png;base64,(14 kB, part 0 of result-1)",
    "(2 kB, part 1 of result-1)",
  ]);
});
