/** The limits of a turn, by the names they have in windlass.toml. */

import { bytes, grouped } from "../../parts";

type Unit = "count" | "seconds" | "bytes" | "tokens" | "days";

export interface LimitLabel {
  name: string;
  words: string;
  unit: Unit;
}

export const LIMITS: readonly LimitLabel[] = [
  { name: "rounds", words: "Max rounds per turn", unit: "count" },
  { name: "calls", words: "Max calls per turn", unit: "count" },
  { name: "tools", words: "Tools in each request before the model searches", unit: "count" },
  { name: "tool_tokens", words: "Tokens of tools in each request before the model searches", unit: "tokens" },
  { name: "attempts", words: "Attempts per model call", unit: "count" },
  { name: "repeats", words: "Replies with the same call and the same result", unit: "count" },
  {
    name: "bad_arguments",
    words: "Replies in a row with arguments a tool cannot take",
    unit: "count",
  },
  { name: "crashes", words: "Crashes of the server during a turn", unit: "count" },
  { name: "result_chars", words: "Characters of a result the model sees", unit: "count" },
  { name: "attached_chars", words: "Characters of attached resources", unit: "count" },
  { name: "instructions_chars", words: "Characters of a server’s instructions", unit: "count" },
  { name: "instructions_total", words: "Characters of all instructions in a chat", unit: "count" },
  { name: "message_chars", words: "Characters of a message", unit: "count" },
  { name: "pictures", words: "Pictures of tools in a request", unit: "count" },
  { name: "picture_bytes", words: "Size of each picture", unit: "bytes" },
  { name: "pictures_bytes", words: "Size of all pictures in a request", unit: "bytes" },
  { name: "turn_s", words: "Max turn time, not counting approvals", unit: "seconds" },
  { name: "at_once", words: "Concurrent turns", unit: "count" },
  { name: "connect_s", words: "Connection timeout", unit: "seconds" },
  { name: "first_byte_s", words: "First token timeout", unit: "seconds" },
  { name: "silence_s", words: "Stall timeout", unit: "seconds" },
  { name: "reply_s", words: "Max reply time", unit: "seconds" },
  { name: "turn_tokens", words: "Tokens in a turn", unit: "tokens" },
  { name: "day_tokens", words: "Tokens in a day", unit: "tokens" },
  { name: "body_bytes", words: "Max request size", unit: "bytes" },
  { name: "import_bytes", words: "Max import size", unit: "bytes" },
  { name: "requests_min", words: "Requests a minute from one address", unit: "count" },
  { name: "keep_days", words: "Delete chats after (days)", unit: "days" },
];

export function limitText(value: number | null, unit: Unit): string {
  if (value === null) return "none";
  if (unit === "bytes") return bytes(value);
  if (unit === "seconds") return timeText(value);
  return grouped(value);
}

function timeText(seconds: number): string {
  const [, name, size] = TIMES.find(([, , size]) => seconds >= size && seconds % size === 0) ?? SECONDS;
  return `${seconds / size}\u00a0${name}`;
}

const SECONDS = [/^s(ec(onds?)?)?$/i, "s", 1] as const;
const TIMES = [[/^h(ours?)?$/i, "h", 3600], [/^m(in(utes?)?)?$/i, "min", 60], SECONDS] as const;

/** A number as a person writes it: "4 min", "240 s", "1 h 30 min", "1,000", "200k". Throws in words. */
export function limitOf(text: string, unit: Unit, mayBeNone: boolean): number | null {
  const plain = text.replaceAll("\u00a0", " ").trim();
  if (/^(none|no limit|never)$/i.test(plain)) {
    if (mayBeNone) return null;
    throw new Error("This one needs a number.");
  }
  const value = unit === "seconds" ? secondsOf(plain) : numberOf(plain);
  if (value === null || !(value > 0)) throw new Error(`Couldn’t read that. ${EXAMPLES[unit]}`);
  return value;
}

const EXAMPLES: Record<Unit, string> = {
  count: "Write a number, such as 10.",
  seconds: "Write a time, such as 4 min or 240 s.",
  bytes: "Write a size, such as 4 MB.",
  tokens: "Write a number, such as 200k, or none.",
  days: "Write a number of days, such as 90, or none.",
};

function secondsOf(text: string): number | null {
  const parts = [...text.matchAll(/([\d.,]+)\s*([a-z]*)/gi)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text.replace(/(?<=\w) (?=\d)/g, ""))
    return null;
  let sum = 0;
  for (const [, digits = "", name = ""] of parts) {
    const size = name === "" ? 1 : TIMES.find(([names]) => names.test(name))?.[2];
    const count = numberOf(digits);
    if (size === undefined || count === null) return null;
    sum += count * size;
  }
  return sum;
}

function numberOf(text: string): number | null {
  const found = /^(\d{1,3}(?:[ ,]\d{3})+|\d+(?:[.,]\d+)?)\s*([kM]?)(?:\s*(?:days?|tokens?))?$/.exec(text);
  if (!found) return null;
  const [, digits = "", scale = ""] = found;
  const grouping = /^\d{1,3}(?:[ ,]\d{3})+$/.test(digits);
  const count = Number(grouping ? digits.replace(/[ ,]/g, "") : digits.replace(",", "."));
  return count * (scale === "k" ? 1000 : scale === "M" ? 1_000_000 : 1);
}
