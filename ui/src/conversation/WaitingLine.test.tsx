import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { replay, type Event, type Waiting } from "../state";
import { GOLDEN } from "../testing/golden";
import { OpenConversation } from "./context";
import { ConversationStore } from "./store";
import { namingFrom } from "./toolbox";
import { TurnBanner } from "./TurnBanner";
import { waitingText } from "./WaitingLine";

const naming = namingFrom([]);
const SINCE = "2026-01-05T12:00:00.000Z";
const NOW = Date.parse("2026-01-05T12:00:40.000Z");

function turnOf(events: readonly Event[]) {
  const turn = [...replay(events).turns.values()].at(-1);
  if (!turn) throw new Error("no turn");
  return turn;
}

const AT = (second: number) => new Date(Date.parse(SINCE) + second * 1000).toISOString();

test.each([
  [{ for: "slot", ahead: 3 }, "Waiting for a free slot. 3 turns ahead."],
  [{ for: "slot", host: "api.z.ai", ahead: 0 }, "Waiting for a free slot at api.z.ai. "],
  [
    { for: "rate_limit", model: "glm-4.7", attempt: 1, attempts: 3, until: AT(57) },
    "glm-4.7 is rate-limited. Retrying in 17 s (1 of 3).",
  ],
  [
    { for: "rate_limit", model: "glm-4.7", ahead: 2, until: AT(57) },
    "glm-4.7 is rate-limited. Asking in 17 s. 2 turns ahead.",
  ],
  [{ for: "first_token", model: "glm-4.7", usual_s: 2 }, "Waiting for glm-4.7. 40 s. Usually 2 s."],
  [
    { for: "silence", model: "glm-4.7", until: AT(240) },
    "No text from glm-4.7. For 40 s. Gives up in 200 s.",
  ],
  [{ for: "server", server: "files" }, "Starting files. 40 s."],
  [{ for: "tool", server: "files", until: AT(120) }, "No progress from files. For 40 s. Gives up in 80 s."],
  [{ for: "sign_in", server: "drive" }, "drive needs you to sign in. Calls are waiting, nothing is lost."],
] as [Partial<Waiting>, string][])("%o reads %s", (fields, text) => {
  const waiting = { type: "waiting", turn_id: "turn-1", at: SINCE, since: SINCE, ...fields } as Waiting;
  const { reason, time } = waitingText(waiting, turnOf(GOLDEN.answered!.events), naming, NOW);
  expect(`${reason} ${time}`.replaceAll("\u00a0", " ")).toBe(text);
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
  expect(screen.getByRole("status").textContent).toBe("glm-4.7 is rate-limited.");
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
