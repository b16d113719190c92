import { calls, turns } from "../api";
import type { ConversationStore } from "./store";

/** Shown at once, and taken back when the word did not get through. */
export function stop(store: ConversationStore, turn_id: string, call_id = ""): void {
  store.put({ type: "stop_sent", turn_id, call_id });
  const request = call_id ? calls.stop(turn_id, call_id) : turns.stop(turn_id);
  request.catch(() => store.put({ type: "stop_unsent", turn_id, call_id }));
}
