/** The icon of a step, and its word where the icon alone would leave a doubt. */

import type { IconName } from "../../parts";
import type { Look } from "../../state";
import type { Span } from "./spans";

export interface LookMark {
  icon: IconName;
  tone: "" | "accent" | "warn" | "bad";
  word: string;
}

const MARKS: Record<Look, LookMark> = {
  queued: { icon: "queued", tone: "", word: "Queued" },
  waiting: { icon: "person", tone: "warn", word: "" },
  asked: { icon: "person", tone: "warn", word: "Asks you" },
  running: { icon: "run", tone: "accent", word: "" },
  again: { icon: "run", tone: "accent", word: "" },
  stopping: { icon: "run", tone: "accent", word: "Stopping" },
  done: { icon: "check", tone: "", word: "" },
  failed: { icon: "fail", tone: "bad", word: "" },
  not_sent: { icon: "fail", tone: "bad", word: "Not sent" },
  timed_out: { icon: "timeout", tone: "bad", word: "Timed out" },
  denied: { icon: "denied", tone: "", word: "Denied" },
  stopped: { icon: "stopped", tone: "", word: "Stopped" },
  unknown: { icon: "unknown", tone: "warn", word: "Unknown" },
  left_unknown: { icon: "unknown", tone: "warn", word: "Unknown" },
};

export function lookMark(span: Span): LookMark {
  if (span.kind === "tool" && span.look === "waiting") return { icon: "queued", tone: "", word: "" };
  if (span.kind !== "model" || span.look === "failed") return MARKS[span.look];
  return { icon: span.live ? "run" : "model", tone: span.live ? "accent" : "", word: "" };
}

/** The word for a state, always. */
export function lookWord(look: Look): string {
  if (look === "done") return "Done";
  if (look === "running" || look === "again") return "Running";
  if (look === "waiting") return "Waiting for you";
  return look === "failed" ? "Failed" : MARKS[look].word;
}
