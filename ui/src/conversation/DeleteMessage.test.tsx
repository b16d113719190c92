import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";

import { messageId, replay, type Event, type Turn } from "../state";
import { scene } from "../testing/scenes";
import { Refusal, serve } from "../testing/server";
import { OpenConversation } from "./context";
import { DeleteMessage } from "./DeleteMessage";
import { ConversationStore } from "./store";
import { namingFrom } from "./toolbox";

function done() {
  const turn = replay(scene("pool-done")).turns.values().next().value;
  if (!turn?.finished) throw new Error("no finished turn");
  return turn;
}

/** The message with its menu, and the question whether it shall go. */
async function askToDelete(turn: Turn, id: string): Promise<ConversationStore> {
  const store = new ConversationStore("conv-pool");
  scene("pool-done").forEach((event) => store.put(event));
  render(
    <OpenConversation value={{ store, naming: namingFrom([]), toolsKnown: true }}>
      <DeleteMessage turn={turn} id={id} what="message" />
    </OpenConversation>,
  );
  fireEvent.keyDown(screen.getByRole("button", { name: "More for this message" }), { key: "Enter" });
  fireEvent.click(await screen.findByRole("menuitem", { name: "Delete this message…" }));
  return store;
}

test("a message is deleted only after a question, and is gone from the page at once", async () => {
  const turn = done();
  const id = messageId(turn, turn.firstSeq);
  const asked = serve({ "DELETE /conversations/conv-pool/messages": { deleted: [id] } });
  const store = await askToDelete(turn, id);
  expect(asked).toEqual([]);
  fireEvent.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(store.state().turns.get(turn.id)?.blanked).toEqual([0]));
  expect(asked[0]).toMatchObject({ method: "DELETE", path: `/conversations/conv-pool/messages/${id}` });
  expect(store.state().turns.get(turn.id)?.opening[0]?.content).toBe("");
});

test("a deletion that did not get through can be tried again", async () => {
  const turn = done();
  const id = messageId(turn, turn.firstSeq);
  const refusal = new Refusal(503, { code: "busy", message: "Not now." });
  const answers: Record<string, unknown> = { DELETE: refusal };
  serve(answers);
  const store = await askToDelete(turn, id);
  fireEvent.click(screen.getByRole("button", { name: "Delete" }));
  await screen.findByText("Not now.");
  answers.DELETE = { deleted: [id] };
  fireEvent.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(store.state().turns.get(turn.id)?.blanked).toEqual([0]));
});

test("a reply goes with the results of its calls", () => {
  const turn = done();
  const [first] = turn.rounds;
  if (!first) throw new Error("no round");
  const gone: Event = { type: "messages_deleted", turn_id: turn.id, ids: [messageId(turn, first.reply.seq)] };
  const after = replay([...scene("pool-done"), gone]).turns.get(turn.id);
  expect(after?.rounds[0]?.reply.blanked).toBe(true);
  expect(after?.rounds[0]?.calls.map((call) => call.finished?.output.text)).toEqual(
    first.calls.map(() => ""),
  );
  expect(after?.rounds[1]?.reply).toBe(turn.rounds[1]?.reply);
});
