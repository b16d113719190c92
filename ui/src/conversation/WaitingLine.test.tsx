import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { replay, type Event, type Waiting } from "../state";
import { GOLDEN } from "../testing/golden";
import { OpenConversation } from "./context";
import { ConversationStore } from "./store";
import { namingFrom } from "./toolbox";
import { TurnBanner } from "./TurnBanner";
import { waitText } from "./waitText";

const naming = namingFrom([]);
const SINCE = "2026-01-05T12:00:00.000Z";
const NOW = Date.parse("2026-01-05T12:00:40.000Z");

function turnOf(events: readonly Event[]) {
  const turn = [...replay(events).turns.values()].at(-1);
  if (!turn) throw new Error("no turn");
  return turn;
}

const AT = (second: number) => new Date(Date.parse(SINCE) + second * 1000).toISOString();

const MODEL = { host: "api.z.ai", model: "glm-4.7" };

test.each([
  [{ for: "slot", ahead: 3 }, "Waiting for a free slot. 3 turns ahead, 40 s so far."],
  [
    { for: "slot", host: "api.z.ai", ahead: 0 },
    "Waiting for a free slot at api.z.ai. Next in line, 40 s so far.",
  ],
  [
    { for: "rate_limit", ...MODEL, attempt: 1, attempts: 3, until: AT(57) },
    "api.z.ai is limiting requests. Retrying in 17 s (1 of 3).",
  ],
  [
    { for: "rate_limit", ...MODEL, ahead: 2, until: AT(57) },
    "api.z.ai is limiting requests. Asking in 17 s. 2 turns ahead.",
  ],
  [
    { for: "rate_limit", ...MODEL, ahead: 0, until: AT(57) },
    "api.z.ai is limiting requests. Asking in 17 s. Next in line.",
  ],
  [
    { for: "first_token", ...MODEL, usual_s: 2, until: AT(240) },
    "Waiting for glm-4.7, 40 s. Usually 2 s. api.z.ai; giving up at 4:00.",
  ],
  [
    { for: "silence", ...MODEL, until: AT(240) },
    "No text for 40 s. Connection is open; giving up at 4:00. glm-4.7 at api.z.ai.",
  ],
  [{ for: "server", server: "files" }, "Starting files, 40 s. 2 calls are waiting for it."],
  [
    { for: "tool", server: "tracker", until: AT(120) },
    "No progress from Search issues for 40 s. Gives up at 120 s. On tracker.",
  ],
  [{ for: "sign_in", server: "drive" }, "drive needs you to sign in. Calls are waiting, nothing is lost."],
] as [Partial<Waiting>, string][])("%o reads %s", (fields, words) => {
  const waiting = { type: "waiting", turn_id: "turn-1", at: SINCE, since: SINCE, ...fields } as Waiting;
  const { lead, before, count, after, where } = waitText(waiting, NOW, { tool: "Search issues", calls: 2 });
  const text = [`${lead} ${before}${count}${after}`, where].filter(Boolean).join(" ");
  expect(text.replaceAll("\u00a0", " ")).toBe(words);
});

test("the number turns amber past twice the usual time, not before", () => {
  const slow = (second: number, usual_s: number) =>
    waitText({ for: "first_token", since: AT(0), usual_s }, Date.parse(AT(second)), {
      tool: "",
      calls: 0,
    }).slow;
  expect([slow(4, 2), slow(5, 2), slow(40, 30)]).toEqual([false, true, false]);
});

test("a rate limit is one line under the turn, until the turn's next event", () => {
  const { events } = GOLDEN.rate_limited!;
  const store = new ConversationStore("conv-1");
  const show = (turn: ReturnType<typeof turnOf>) => (
    <OpenConversation value={{ store, naming, toolsKnown: true }}>
      <TurnBanner turn={turn} />
    </OpenConversation>
  );
  const { rerender } = render(show(turnOf(events)));
  expect(screen.getByRole("status").textContent).toBe("127.0.0.1:1 is limiting requests. Retrying, 1 of 3.");
  expect(screen.getByText(/\(1 of 3\)/)).toBeTruthy();
  const word = { type: "text_delta", turn_id: "turn-1", attempt: 2, text: "Hello", at: SINCE } as Event;
  rerender(show(turnOf([...events, word])));
  expect(screen.queryByRole("status")).toBeNull();
});

test("a reply that had not begun is not said to have broken off", () => {
  const [started, claimed] = GOLDEN.rate_limited!.events;
  const failed = {
    ...claimed,
    type: "model_failed",
    seq: 2,
    id: 3,
    cause: "interrupted",
    message: "api.z.ai ended the request without a reply. glm-4.7: the connection was cut.",
    retryable: true,
  } as unknown as Event;
  const store = new ConversationStore("conv-1");
  render(
    <OpenConversation value={{ store, naming, toolsKnown: true }}>
      <TurnBanner turn={turnOf([started!, claimed!, failed])} />
    </OpenConversation>,
  );
  expect(screen.getByText("api.z.ai ended the request without a reply.")).toBeTruthy();
  expect(screen.getByText(/Retrying \(1 of 3\)\./)).toBeTruthy();
  expect(screen.queryByText(/broke off/)).toBeNull();
});
