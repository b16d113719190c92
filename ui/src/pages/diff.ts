/** Differences between two texts: by line, and by word within a line. */

export interface Line {
  kind: "same" | "del" | "add";
  /** Marked pieces are what is new in an added line, or gone from a removed one. */
  pieces: readonly Piece[];
}

export interface Piece {
  text: string;
  marked: boolean;
}

const MOST = 2000; // beyond this the table of the search would be larger than the text is worth

/** Lines that went, came and stayed. A line that was changed shows which words. */
export function diffLines(before: readonly string[], after: readonly string[]): Line[] {
  const steps = stepsBetween(before, after);
  return pairUp(steps);
}

export function diffText(before: string, after: string): Line[] {
  return diffLines(linesOf(before), linesOf(after));
}

/** The same two texts word by word: what each has alone is marked. */
export function diffWords(before: string, after: string): { before: Piece[]; after: Piece[] } {
  const steps = stepsBetween(wordsOf(before), wordsOf(after));
  return {
    before: joined(steps.filter((step) => step.kind !== "add")),
    after: joined(steps.filter((step) => step.kind !== "del")),
  };
}

interface Step {
  kind: Line["kind"];
  text: string;
}

/** The longest common run of items decides what stayed. */
function stepsBetween(before: readonly string[], after: readonly string[]): Step[] {
  if (before.length * after.length > MOST * MOST)
    return [...before.map((text) => step("del", text)), ...after.map((text) => step("add", text))];
  const lengths = commonLengths(before, after);
  const steps: Step[] = [];
  let [a, b] = [0, 0];
  while (a < before.length || b < after.length) {
    const [was, is] = [before[a], after[b]];
    if (was !== undefined && was === is) {
      steps.push(step("same", was));
      a += 1;
      b += 1;
    } else if (is === undefined || (was !== undefined && at(lengths, a + 1, b) >= at(lengths, a, b + 1))) {
      steps.push(step("del", was ?? ""));
      a += 1;
    } else {
      steps.push(step("add", is));
      b += 1;
    }
  }
  return steps;
}

function commonLengths(before: readonly string[], after: readonly string[]): Uint32Array[] {
  const rows = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let a = before.length - 1; a >= 0; a -= 1)
    for (let b = after.length - 1; b >= 0; b -= 1) {
      const row = rows[a];
      if (!row) continue;
      row[b] =
        before[a] === after[b]
          ? at(rows, a + 1, b + 1) + 1
          : Math.max(at(rows, a + 1, b), at(rows, a, b + 1));
    }
  return rows;
}

/** A removed line directly before an added one was changed, not replaced. */
function pairUp(steps: readonly Step[]): Line[] {
  const lines: Line[] = [];
  for (let n = 0; n < steps.length;) {
    const gone = run(steps, n, "del");
    const come = run(steps, n + gone.length, "add");
    if (gone.length + come.length === 0) {
      const same = steps[n];
      if (same) lines.push({ kind: "same", pieces: [{ text: same.text, marked: false }] });
      n += 1;
      continue;
    }
    lines.push(...changed(gone, come));
    n += gone.length + come.length;
  }
  return lines;
}

function changed(gone: readonly string[], come: readonly string[]): Line[] {
  const pairs = gone.map((text, n) => diffWords(text, come[n] ?? ""));
  const removed = gone.map((text, n): Line => ({
    kind: "del",
    pieces: come[n] === undefined ? [{ text, marked: false }] : (pairs[n]?.before ?? []),
  }));
  const added = come.map((text, n): Line => ({
    kind: "add",
    pieces: gone[n] === undefined ? [{ text, marked: true }] : (pairs[n]?.after ?? []),
  }));
  return [...removed, ...added];
}

function run(steps: readonly Step[], from: number, kind: Line["kind"]): string[] {
  const texts: string[] = [];
  for (let n = from; steps[n]?.kind === kind; n += 1) texts.push(steps[n]?.text ?? "");
  return texts;
}

function joined(steps: readonly Step[]): Piece[] {
  const pieces: Piece[] = [];
  for (const { kind, text } of steps) {
    const marked = kind !== "same";
    const last = pieces.at(-1);
    if (last?.marked === marked) last.text += text;
    else pieces.push({ text, marked });
  }
  return pieces;
}

function step(kind: Line["kind"], text: string): Step {
  return { kind, text };
}

function at(rows: readonly Uint32Array[], a: number, b: number): number {
  return rows[a]?.[b] ?? 0;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

function wordsOf(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}
