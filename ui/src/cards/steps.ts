/** What the steps of an approval share: the call, what was typed, and what can be done. */

import type { ReactNode } from "react";

import type { Decision } from "../api";
import type { Named } from "../conversation/toolbox";
import type { Call } from "../state";
import type { GrantDraft } from "./grant";
import type { EditDraft } from "./changes";

export type Step = "ask" | "edit" | "deny" | "always";

/** What was typed in each step. Going back keeps it. */
export interface Drafts {
  edit?: EditDraft | undefined;
  reason?: string;
  grant?: GrantDraft | undefined;
}

export interface StepProps {
  call: Call;
  named: Named;
  error: ReactNode;
  busy: boolean;
  drafts: Drafts;
  keep: (drafts: Drafts) => void;
  /** Arguments that the person changed are sent along. */
  decide: (decision: Decision) => void;
  go: (step: Step) => void;
  back: () => void;
}

export function questionOf(step: Step, { title }: Named): string {
  const verb = { ask: "Allow", edit: "Allow", deny: "Deny", always: "Always allow" }[step];
  return `${verb} ${title}?`;
}

/**
 * Whether a letter or a group must not allow it at one press: the server says that it destroys, or nobody can tell
 * because the server does not run now.
 */
export function needsCare({ tool }: Named): boolean {
  return tool === null || tool.annotations.destructiveHint === true;
}
