/** The four ways to mark a formula. */

export interface Formula {
  tex: string;
  display: boolean;
}

const MARKS = [
  { open: "$$", close: "$$", display: true },
  { open: "\\[", close: "\\]", display: true },
  { open: "$", close: "$", display: false },
  { open: "\\(", close: "\\)", display: false },
];

/** What stands between the marks of a whole formula; null for any other text. */
export function formulaIn(source: string): Formula | null {
  const text = source.trim();
  const mark = MARKS.find(({ open, close }) => text.startsWith(open) && text.endsWith(close));
  if (!mark) return null;
  const tex = text.slice(mark.open.length, -mark.close.length);
  return tex.trim() ? { tex, display: mark.display } : null;
}

/** Whether a text may hold formulas: two dollars, or one bracket behind a backslash. */
export function mayHoldMath(text: string): boolean {
  const first = text.indexOf("$");
  return (first >= 0 && text.includes("$", first + 1)) || /\\[([]/.test(text);
}

const DISPLAY = /^ ?(\$\$(?!\$)|\\\[)/;

/** The mark that a line opens a display formula with, at the outermost level; within lists and quotes it is part of the text. */
export function displayMark(line: string): string {
  return DISPLAY.exec(line)?.[1] ?? "";
}

/** Whether a block is one display formula and nothing else: whole, or still open at its end. */
export function displayState(block: string): "whole" | "open" | "none" {
  if (!displayMark(block)) return "none";
  const lines = block.trimEnd().split("\n");
  const end = displayEnd(lines, 0);
  if (end === null) return "open";
  return end === lines.length - 1 && formulaIn(block) ? "whole" : "none";
}

/** Where a display formula that begins in line `from` ends: a line, -1 where it is not one, or null while it is open. */
export function displayEnd(lines: readonly string[], from: number): number | null {
  const mark = displayMark(lines[from] ?? "");
  const close = mark === "$$" ? "$$" : "\\]";
  for (let n = from; n < lines.length; n += 1) {
    const line = lines[n] ?? "";
    const at = line.indexOf(close, n === from ? line.indexOf(mark) + 2 : 0);
    if (at >= 0) return line.slice(at + 2).trim() === "" ? n : -1;
  }
  return null;
}
