/** Angle brackets are text: `<your key>`, `List<String>` and `<script>` are shown as they stand, and never parsed as HTML. */

import type { Link, Nodes, Parent, RootContent } from "mdast";

interface Parser {
  data: () => object;
}

/** A remark plugin. `leads` says which addresses may be links. */
export function literal(this: Parser, leads: (url: string) => string) {
  const data = this.data() as { micromarkExtensions?: unknown[] };
  (data.micromarkExtensions ??= []).push({ disable: { null: ["htmlFlow", "htmlText"] } });
  return (tree: Nodes) => {
    if ("children" in tree) visit(tree, leads);
  };
}

/** `<name:value>` has the form of a link, but leads nowhere. */
function visit(parent: Parent, leads: (url: string) => string): void {
  parent.children = parent.children.map((child): RootContent => {
    if (child.type === "link" && isBracketed(child) && !leads(child.url))
      return { type: "text", value: `<${child.url}>` };
    if ("children" in child) visit(child, leads);
    return child;
  });
}

/** Written as `<url>`, and not as `[words](url)`. */
function isBracketed({ url, position }: Link): boolean {
  const { start, end } = position ?? {};
  return (end?.offset ?? 0) - (start?.offset ?? 0) === url.length + 2;
}
