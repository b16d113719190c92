/** The icon of a step, and its word where the icon alone would leave a doubt. */

import type { IconName } from "../../parts";
import type { Look } from "../../state";
import type { Span } from "./spans";

export interface LookMark {
  icon: IconName;
  tone: "" | "accent" | "warn" | "bad";
  label: string;
}

const MARKS: Record<Look, LookMark> = {
  queued: { icon: "queued", tone: "", label: "Queued" },
  waiting: { icon: "person", tone: "warn", label: "" },
  asked: { icon: "person", tone: "warn", label: "Has a question" },
  running: { icon: "run", tone: "accent", label: "" },
  again: { icon: "run", tone: "accent", label: "" },
  stopping: { icon: "run", tone: "accent", label: "Stopping" },
  done: { icon: "check", tone: "", label: "" },
  failed: { icon: "fail", tone: "bad", label: "" },
  not_sent: { icon: "fail", tone: "bad", label: "Not sent" },
  timed_out: { icon: "timeout", tone: "bad", label: "Timed out" },
  denied: { icon: "denied", tone: "", label: "Denied" },
  stopped: { icon: "stopped", tone: "", label: "Stopped" },
  stopped_sent: { icon: "stopped", tone: "", label: "Stopped" },
  unknown: { icon: "unknown", tone: "warn", label: "Unknown" },
  left_unknown: { icon: "unknown", tone: "warn", label: "Unknown" },
};

export function lookMark(span: Span): LookMark {
  if (span.kind === "tool" && span.look === "waiting") return { icon: "queued", tone: "", label: "" };
  if (span.kind !== "model" || span.look === "failed") return MARKS[span.look];
  return { icon: span.live ? "run" : "model", tone: span.live ? "accent" : "", label: "" };
}

/** The word for a state, always. */
export function lookLabel(look: Look): string {
  if (look === "done") return "Done";
  if (look === "running" || look === "again") return "Running";
  if (look === "waiting") return "Needs approval";
  return look === "failed" ? "Failed" : MARKS[look].label;
}
