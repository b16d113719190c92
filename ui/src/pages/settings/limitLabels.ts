/** The limits of a turn, by the names they have in windlass.toml. */

import { bytes, grouped } from "../../parts";

type Unit = "count" | "seconds" | "bytes" | "tokens";

export interface LimitLabel {
  name: string;
  words: string;
  unit: Unit;
  usual: number | null;
}

export const LIMITS: readonly LimitLabel[] = [
  { name: "rounds", words: "Tool rounds in a turn; then an answer is asked for", unit: "count", usual: 10 },
  { name: "calls", words: "Calls in a turn", unit: "count", usual: 128 },
  { name: "attempts", words: "Attempts to reach the model, the first included", unit: "count", usual: 4 },
  { name: "repeats", words: "Replies with the same call and the same result", unit: "count", usual: 8 },
  {
    name: "bad_arguments",
    words: "Replies in a row with arguments a tool cannot take",
    unit: "count",
    usual: 3,
  },
  { name: "crashes", words: "Crashes of the server during a turn", unit: "count", usual: 3 },
  { name: "result_chars", words: "Characters of a result the model sees", unit: "count", usual: 16_000 },
  { name: "message_chars", words: "Characters of a message", unit: "count", usual: 1_000_000 },
  { name: "turn_s", words: "Work on a turn; waits for you are not counted", unit: "seconds", usual: 1800 },
  { name: "at_once", words: "Turns at once; the rest queue", unit: "count", usual: 32 },
  { name: "connect_s", words: "Connecting to the model", unit: "seconds", usual: 60 },
  { name: "first_byte_s", words: "Time to first token", unit: "seconds", usual: 240 },
  { name: "silence_s", words: "Stall timeout", unit: "seconds", usual: 240 },
  { name: "reply_s", words: "One reply of the model", unit: "seconds", usual: 1200 },
  { name: "turn_tokens", words: "Tokens in a turn", unit: "tokens", usual: null },
  { name: "day_tokens", words: "Tokens in a day", unit: "tokens", usual: null },
  { name: "body_bytes", words: "A request to Windlass", unit: "bytes", usual: 4 << 20 },
  { name: "import_bytes", words: "Max import size", unit: "bytes", usual: 20 << 20 },
  { name: "requests_min", words: "Requests a minute from one address", unit: "count", usual: null },
  { name: "keep_days", words: "Days a conversation is kept after its last turn", unit: "count", usual: null },
];

export function limitText(value: number | null, unit: Unit): string {
  if (value === null) return "none";
  if (unit === "bytes") return bytes(value);
  if (unit === "seconds")
    return value >= 60 && value % 60 === 0 ? `${value / 60}\u00a0min` : `${value}\u00a0s`;
  return grouped(value);
}
