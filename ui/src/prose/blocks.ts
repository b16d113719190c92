/** Splits markdown where it is safe to, so that what is complete is drawn once while the rest still grows. */

import { displayEnd, displayMark } from "./formula";

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const CONTINUES = /^(\s|[-*+]\s|\d+[.)]\s|>)/; // an indented line, a list item or a quote may belong to the block before
const SHARED = /^\s{0,3}\[[^\]]+\]:/m; // link definitions and footnotes reach across blocks

/** A display formula is a block of its own, blank lines and all; `growing` also where its end has yet to come. */
export function blocksOf(markdown: string, growing = false): string[] {
  if (SHARED.test(markdown)) return [markdown];
  const all = markdown.split("\n");
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence = "";
  let blankBefore = false;
  const cut = () => {
    blocks.push(lines.join("\n"));
    lines = [];
  };
  for (let n = 0; n < all.length; n += 1) {
    const line = all[n] ?? "";
    const end = !fence && displayMark(line) ? formulaEnd(all, n, growing) : -1;
    if (end >= n) {
      cut();
      lines = all.slice(n, end + 1);
      cut();
      n = end;
      blankBefore = false;
      continue;
    }
    if (!fence && blankBefore && line.trim() && !CONTINUES.test(line)) cut();
    fence = fenceAfter(fence, line);
    blankBefore = !fence && line.trim() === "";
    lines.push(line);
  }
  cut();
  return blocks.filter((block) => block.trim());
}

function formulaEnd(lines: readonly string[], from: number, growing: boolean): number {
  return displayEnd(lines, from) ?? (growing ? lines.length - 1 : -1);
}

function fenceAfter(fence: string, line: string): string {
  const mark = FENCE.exec(line)?.[1] ?? "";
  if (!fence) return mark;
  const closes = mark.startsWith(fence) && line.trim() === mark;
  return closes ? "" : fence;
}
