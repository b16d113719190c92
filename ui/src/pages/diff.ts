/** Two texts side by side: the lines that went, came and stayed, and which words of a changed line are new or gone. */

import { diffArrays, diffWordsWithSpace, type ChangeObject } from "diff";

export interface Line {
  kind: "same" | "del" | "add";
  /** Marked pieces are what is new in an added line, or gone from a removed one. */
  pieces: readonly Piece[];
}

export interface Piece {
  text: string;
  marked: boolean;
}

const MOST_EDITS = 2000; // texts that differ more are shown as one removed and one added

export function diffText(before: string, after: string): Line[] {
  return diffLines(linesOf(before), linesOf(after));
}

export function diffLines(before: readonly string[], after: readonly string[]): Line[] {
  const changes = diffArrays([...before], [...after], { maxEditLength: MOST_EDITS });
  if (!changes) return changedLines(before, after);
  const lines: Line[] = [];
  for (const [n, change] of changes.entries()) {
    if (change.removed) lines.push(...changedLines(change.value, addedAfter(changes, n)));
    else if (!change.added) lines.push(...change.value.map((text) => line("same", text)));
    else if (!changes[n - 1]?.removed) lines.push(...changedLines([], change.value));
  }
  return lines;
}

/** The same two texts word by word: what each has alone is marked. */
export function diffWords(before: string, after: string): { before: Piece[]; after: Piece[] } {
  const changes = diffWordsWithSpace(before, after);
  return {
    before: changes.filter((change) => !change.added).map(piece),
    after: changes.filter((change) => !change.removed).map(piece),
  };
}

/** A removed line directly before an added one was changed, not replaced. */
function changedLines(gone: readonly string[], come: readonly string[]): Line[] {
  const pairs = gone.slice(0, come.length).map((text, n) => diffWords(text, come[n] ?? ""));
  return [
    ...gone.map((text, n) => ({ ...line("del", text), ...(pairs[n] && { pieces: pairs[n].before }) })),
    ...come.map((text, n) => ({ ...line("add", text), ...(pairs[n] && { pieces: pairs[n].after }) })),
  ];
}

function addedAfter(changes: readonly ChangeObject<string[]>[], n: number): string[] {
  const next = changes[n + 1];
  return next?.added ? next.value : [];
}

function line(kind: Line["kind"], text: string): Line {
  return { kind, pieces: [{ text, marked: kind === "add" }] };
}

function piece(change: ChangeObject<string>): Piece {
  return { text: change.value, marked: change.added || change.removed };
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}
