/** Turns [1] into a chip, glued to the word before it, where the turn has a source of that number. */

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
    if (!numbers.every((n) => n >= 1 && n <= count)) continue;
    parts.push({ type: "text", value: text.value.slice(end, match.index) });
    parts.push(glued(word, numbers, after));
    end = match.index + whole.length;
  }
  if (end === 0) return [text];
  return [...parts, { type: "text", value: text.value.slice(end) }];
}

function glued(word: string, numbers: number[], after: string): PhrasingContent {
  return {
    type: "emphasis",
    data: { hName: "span", hProperties: { className: ["nb"] } },
    children: [
      { type: "text", value: word },
      ...numbers.map((n): PhrasingContent => ({
        type: "emphasis",
        data: { hName: "cite", hProperties: { dataN: String(n) } },
        children: [{ type: "text", value: String(n) }],
      })),
      { type: "text", value: after },
    ],
  };
}
