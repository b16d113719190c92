/** Where in the box something is being looked for: a prompt after `/`, a resource or a tool after `@`. */

export interface Trigger {
  kind: "/" | "@";
  /** What is typed behind the mark. */
  query: string;
  start: number;
  end: number;
}

/**
 * `/` counts as the first letter of the message alone, and only up to the first space: what follows is an argument of
 * the demo model's own commands. `//` asks for the web. `@` counts wherever a word begins.
 */
export function triggerAt(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret);
  const slash = /^\/([^\s/]*)$/.exec(before);
  if (slash && !/^\S/.test(text.slice(caret)))
    return { kind: "/", query: slash[1] ?? "", start: 0, end: caret };
  const at = /(?:^|\s)@(\S*)$/.exec(before);
  if (!at) return null;
  const query = at[1] ?? "";
  return { kind: "@", query, start: caret - query.length - 1, end: caret };
}

/** The text with something else where the trigger stands, and where the caret goes. */
export function replaced(text: string, trigger: Trigger, by: string): { text: string; caret: number } {
  const rest = text.slice(trigger.end);
  const gap = by && !/^\s/.test(rest) ? " " : "";
  const made = text.slice(0, trigger.start) + by + gap;
  return { text: made + rest, caret: made.length };
}
