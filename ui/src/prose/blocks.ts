/** Splits markdown where it is safe to, so that what is complete is drawn once while the rest still grows. */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const CONTINUES = /^(\s|[-*+]\s|\d+[.)]\s|>)/; // an indented line, a list item or a quote may belong to the block before
const SHARED = /^\s{0,3}\[[^\]]+\]:/m; // link definitions and footnotes reach across blocks

export function blocksOf(markdown: string): string[] {
  if (SHARED.test(markdown)) return [markdown];
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence = "";
  let blankBefore = false;
  for (const line of markdown.split("\n")) {
    if (!fence && blankBefore && line.trim() && !CONTINUES.test(line)) {
      blocks.push(lines.join("\n"));
      lines = [];
    }
    fence = fenceAfter(fence, line);
    blankBefore = !fence && line.trim() === "";
    lines.push(line);
  }
  blocks.push(lines.join("\n"));
  return blocks.filter((block) => block.trim());
}

function fenceAfter(fence: string, line: string): string {
  const mark = FENCE.exec(line)?.[1] ?? "";
  if (!fence) return mark;
  const closes = mark.startsWith(fence) && line.trim() === mark;
  return closes ? "" : fence;
}
