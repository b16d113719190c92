/** Why a call asks: the step that decided, the setting behind it, and which answers that leaves. */

import type { Call } from "../state";

type Asker = "doubt" | "rule" | "setting" | "outside" | "tool";

export interface Why {
  asker: Asker;
  /** A sentence; "" for a rule, which is shown itself. */
  words: string;
  /** What brought text from outside into the chat. */
  detail?: string;
  /** The line in Permissions that asks; "" where none does. */
  permission: string;
  /** Whether a lasting approval would be heeded. */
  grantable: boolean;
  /** Whether the next tool of the server would ask for the same reason. */
  ofServer: boolean;
}

const OUTSIDE = "text from outside";
const IN_DOUBT = "the same call once ended unknown";
const NUMBERED_RULE = /^(rule\s*)?\d+\b/i; // in logs of the first edition, which have no steps

export function whyOf({ judged }: Call, server: string): Why {
  const { step = 0, rule = "", permission = "", outside: source = "" } = judged ?? {};
  const isDoubt = rule === IN_DOUBT;
  const grantable = step > 2 || (step === 0 && !isDoubt && !NUMBERED_RULE.test(rule));
  if (step === 2 || (step === 0 && NUMBERED_RULE.test(rule)))
    return { asker: "rule", words: "", permission, grantable, ofServer: false };
  if (step === 4)
    return {
      asker: "setting",
      words: settingText(permission, server),
      permission,
      grantable,
      ofServer: false,
    };
  const outside = step === 6 && rule.includes(OUTSIDE);
  return {
    asker: outside ? "outside" : isDoubt ? "doubt" : "tool",
    words: outside
      ? "This chat has read text from outside, so this call asks."
      : sentenceOf(rule || "this tool changes or sends something"),
    ...(source && { detail: `It came from ${source}.` }),
    permission,
    grantable,
    ofServer: outside || step === 7,
  };
}

function settingText(permission: string, server: string): string {
  switch (permission.split(":", 1)[0]) {
    case "conversation":
      return "“Ask” is set for this tool in this chat.";
    case "server":
      return `“Ask” is set for all tools of ${server || "this server"}.`;
    default:
      return "“Ask” is set for this tool.";
  }
}

function sentenceOf(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
