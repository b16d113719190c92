import { render } from "@testing-library/react";
import { expect, test } from "vitest";

import { replay, type Event } from "../state";
import { scene } from "../testing/scenes";
import { OpenConversation } from "./context";
import { ConversationStore } from "./store";
import { namingFrom } from "./toolbox";
import { TurnView } from "./TurnView";

const open = { store: new ConversationStore("conv-pool"), naming: namingFrom([]), toolsKnown: true };

function view(events: readonly Event[]) {
  const turn = [...replay(events).turns.values()].at(-1);
  if (!turn) throw new Error("no turn");
  return (
    <OpenConversation value={open}>
      <TurnView turn={turn} answers="0" wordings="0" inspected={false} inspectedRound={0} />
    </OpenConversation>
  );
}

test("an answer keeps its elements when its last word has come", () => {
  const header = { turn_id: "turn-1", conversation_id: "conv-pool", at: "2026-11-15T14:00:00Z" };
  const text = "First paragraph.\n\nSecond paragraph.";
  const writing: Event[] = [
    {
      ...header,
      type: "turn_started",
      parent_turn_id: null,
      seq: 0,
      opening: [{ role: "user", content: "Hello" }],
    },
    { ...header, type: "turn_claimed", seq: 1, driver: "one" },
    { ...header, type: "text_delta", attempt: 1, text },
  ];
  const { container, rerender } = render(view(writing));
  const before = container.querySelector(".prose p");
  expect(before?.textContent).toBe("First paragraph.");
  rerender(view([...writing, { ...header, type: "model_replied", seq: 2, text }]));
  expect(container.querySelector(".prose p")).toBe(before);
  expect(container.querySelectorAll(".round")).toHaveLength(1);
});

test("sources stand once, under the answer", () => {
  const { container } = render(view(scene("pool-done")));
  expect(container.querySelectorAll(".sources")).toHaveLength(1);
  expect(container.querySelector(".round.last .sources")).not.toBeNull();
});
