/** Turns [1] into a chip, glued to the word before it. A number that no source has is marked as such. */

import type { Nodes, Parent, PhrasingContent, RootContent, Text } from "mdast";

const MARKS = /(\S{0,40}?)((?: ?\[\d{1,3}(?:, ?\d{1,3})*\])+)([.,;:!?)]*)/g;

/** A remark plugin. `count` is how many sources there are. */
export function citations(count: number) {
  return () => (tree: Nodes) => {
    if (count > 0 && "children" in tree) visit(tree, count);
  };
}

function visit(parent: Parent, count: number): void {
  if (parent.type === "link" || parent.type === "linkReference") return;
  parent.children = parent.children.flatMap((child): RootContent[] => {
    if (child.type === "text") return split(child, count);
    if ("children" in child) visit(child, count);
    return [child];
  });
}

function split(text: Text, count: number): PhrasingContent[] {
  const parts: PhrasingContent[] = [];
  let end = 0;
  for (const match of text.value.matchAll(MARKS)) {
    const [whole, word = "", marks = "", after = ""] = match;
    const numbers = [...marks.matchAll(/\d+/g)].map(([digits]) => Number(digits));
    if (!areCitations(numbers, count, word, marks)) continue;
    parts.push({ type: "text", value: text.value.slice(end, match.index) });
    parts.push(glued(word, numbers, after, count));
    end = match.index + whole.length;
  }
  if (end === 0) return [text];
  return [...parts, { type: "text", value: text.value.slice(end) }];
}

/** `a[7]` is an index where there is no source 7; `jitter [7]` is a citation of nothing. */
function areCitations(numbers: number[], count: number, word: string, marks: string): boolean {
  if (numbers.some((n) => n < 1)) return false;
  const standsAlone = (word === "" || marks.startsWith(" ")) && !/[=)\]_$]$/.test(word);
  return standsAlone || numbers.every((n) => n <= count);
}

function glued(word: string, numbers: number[], after: string, count: number): PhrasingContent {
  return {
    type: "emphasis",
    data: { hName: "span", hProperties: { className: ["nb"] } },
    children: [
      { type: "text", value: word },
      ...numbers.map((n): PhrasingContent => ({
        type: "emphasis",
        data: { hName: "cite", hProperties: n > count ? { dataUnknown: "" } : {} },
        children: [{ type: "text", value: String(n) }],
      })),
      { type: "text", value: after },
    ],
  };
}

/** Numbers that an answer cites and no source has, each once; code is left alone. */
export function unknownCitations(text: string, count: number): number[] {
  if (count === 0) return [];
  const prose = text
    .replace(/^ {0,3}(`{3,}|~{3,})[^]*?(?:^ {0,3}\1|$(?![^]))/gm, "")
    .replace(/`[^`\n]*`/g, "");
  const found = new Set<number>();
  for (const [, word = "", marks = ""] of prose.matchAll(MARKS)) {
    const numbers = [...marks.matchAll(/\d+/g)].map(([digits]) => Number(digits));
    if (areCitations(numbers, count, word, marks))
      numbers.filter((n) => n > count).forEach((n) => found.add(n));
  }
  return [...found];
}
