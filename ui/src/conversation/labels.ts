/** The words of calls: what stands on the line, and what the open row says happened. */

import type { Rule } from "../api";
import { bytes, keepsNumbers } from "../parts";
import type { IconName } from "../parts";
import type { Call, Look } from "../state";

interface LookText {
  icon: IconName;
  /** The class that carries its colour. */
  tone: string;
  /** On the line; "" when the state says nothing. */
  say: string;
  /** For screen readers where the line says nothing. */
  spoken: string;
}

export const LOOKS: Record<Look, LookText> = {
  queued: { icon: "queued", tone: "queue", say: "Queued", spoken: "" },
  waiting: { icon: "person", tone: "ask", say: "Needs approval", spoken: "" },
  asked: { icon: "person", tone: "ask", say: "Has a question", spoken: "" },
  running: { icon: "run", tone: "run", say: "", spoken: "Running: " },
  again: { icon: "run", tone: "run", say: "Trying again", spoken: "" },
  stopping: { icon: "run", tone: "run", say: "Stopping", spoken: "" },
  done: { icon: "check", tone: "done", say: "", spoken: "Done: " },
  failed: { icon: "fail", tone: "fail", say: "Failed", spoken: "" },
  not_sent: { icon: "fail", tone: "fail", say: "Not sent", spoken: "" },
  timed_out: { icon: "timeout", tone: "timeout", say: "Timed out", spoken: "" },
  denied: { icon: "denied", tone: "denied off", say: "Denied", spoken: "" },
  stopped: { icon: "stopped", tone: "stopped off", say: "Stopped by you", spoken: "" },
  stopped_sent: {
    icon: "stopped",
    tone: "stopped off",
    say: "Stopped by you; it may have happened",
    spoken: "",
  },
  unknown: { icon: "unknown", tone: "unknown", say: "Outcome unknown", spoken: "" },
  left_unknown: { icon: "unknown", tone: "unknown", say: "Outcome unknown", spoken: "" },
};

/** The state word, with who decided where someone did. */
export function sayOf(call: Call, look: Look): string {
  if (look === "denied") {
    const { number } = ruleOf(call.judged?.rule ?? "");
    if (call.finished?.cause === "person" || call.decided) return "Denied by you";
    return number ? `Denied by rule ${number}` : "Denied by a rule";
  }
  if (look === "left_unknown" && call.finished?.cause === "person") return "Skipped, outcome unknown";
  if (look === "stopped" && call.finished?.cause !== "stopped") return "Not run";
  if (look === "stopped" && !call.stoppedByPerson) return "Stopped";
  return LOOKS[look].say;
}

/** Calls that wait for a person; questions and doubts are no approvals. */
export function neededText(calls: number, approvals = calls): string {
  const what = approvals === calls ? "your approval" : "your attention";
  return calls === 1 ? `1 call needs ${what}` : `${calls} calls need ${what}`;
}

/** "allowed once", "allowed once, edited", "marked done"; "" when nobody was asked. */
export function decisionOf(call: Call): string {
  if (call.finished?.state === "ok" && call.finished.cause === "person") return "marked done by you";
  if (!call.decided?.allow) return "";
  const scope = { once: "allowed once", conversation: "allowed in this chat", always: "always allowed" };
  return scope[call.decided.scope ?? "once"] + (call.decided.arguments ? ", edited" : "");
}

export interface RuleText {
  number: string;
  text: string;
}

/** A rule as the server names it: a number where it has one, then the rule itself. */
export function ruleOf(rule: string): RuleText {
  const match = /^(?:rule\s*)?(\d+)\b[:.)\s]*(.*)$/is.exec(rule.trim());
  const text = (match?.[2] ?? rule).trim().replace(/\s*->\s*/g, " → ");
  return { number: match?.[1] ?? "", text };
}

/** A rule as one line: `tracker.create_* where force = true → ask`. */
export function ruleText(rule: Rule): string {
  const conditions = Object.entries(rule.arguments).map(([name, value]) => `${name} = ${value}`);
  const where = conditions.length > 0 ? ` where ${conditions.join(" and ")}` : "";
  return `${rule.server}.${rule.tool}${where} → ${rule.approval}`;
}

/** What happened and what it means, for the open row of a call that did not simply work. */
export function storyOf(call: Call, look: Look, server: string): string {
  const where = server || "The server";
  const output = call.finished?.output.text ?? "";
  switch (look) {
    case "failed":
      return call.finished?.cause === "server_gone"
        ? `${where} went away before it answered. The model was told, and went on without it.`
        : "The model was told, and went on without it.";
    case "not_sent":
      return `${ended(output || call.spec.broken || "The call could not be read")} The model was told and may try again.`;
    case "timed_out":
      return `No answer and no progress for ${took(call)}. The server was told to stop.`;
    case "denied":
      return call.decided?.reason ? `“${call.decided.reason}” The model was told.` : "The model was told.";
    case "stopped_sent":
      return `It was sent before you stopped it, so ${server || "the server"} may have carried it out. The same call asks you first.`;
    case "left_unknown":
      return `${where} may or may not have carried this out. The model was told that the outcome is unknown.`;
    case "again":
      return `${where} stopped before it answered. This call only reads, so it is sent again.`;
    case "queued":
      return "Queued. Starts automatically.";
    default:
      return "";
  }
}

function ended(words: string): string {
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

function took(call: Call): string {
  return `${Math.round((call.finished?.took_ms ?? 0) / 1000)}\u00a0s`;
}

export function shortenedStory(shown: number, whole: number): string {
  return `The model saw ${bytes(shown)} of ${bytes(whole)}: the start, the end and the shape. It can read the rest in pieces.`;
}

export const REPEATED =
  "The model was told that this gives the same result each time, and is now asked for an answer.";

const LONG_ARGUMENT = 80;

/** Arguments on one line: `path: config/pool.toml`, strings with spaces in quotes; as written where reading rounds. */
export function argumentLine(json: string): string {
  if (!keepsNumbers(json)) return json;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return json;
  }
  if (typeof value !== "object" || value === null) return json;
  return Object.entries(value)
    .map(([key, inner]) => `${key}: ${shown(inner)}`)
    .join(", ");
}

function shown(value: unknown): string {
  const text = typeof value === "string" && !/[\s,]/.test(value) ? value : JSON.stringify(value);
  return text.length > LONG_ARGUMENT ? `${text.slice(0, LONG_ARGUMENT)}…` : text;
}
