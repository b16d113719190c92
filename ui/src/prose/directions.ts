/**
 * Each block runs in the direction of its own first letter. Only outermost blocks are marked: a list or a quote takes
 * its side from the text within, and a marked paragraph inside would hide that text from it.
 */

import type { Nodes } from "mdast";

/** A remark plugin. Code keeps its own direction, which is left to right. */
export function directions() {
  return (tree: Nodes) => {
    if (tree.type !== "root") return;
    for (const block of tree.children)
      if (block.type !== "code")
        block.data = { ...block.data, hProperties: { ...block.data?.hProperties, dir: "auto" } };
  };
}
