/** Aligns columns of numbers to the right, heads included, where the writer chose no side. */

import type { Nodes, Table } from "mdast";

const NUMBER = /^[-+−]?\d[\d.,\s]*(%|[a-zµ]{1,3})?$/i;

/** A remark plugin. */
export function numberColumns() {
  return (tree: Nodes) => visit(tree);
}

function visit(node: Nodes): void {
  if (node.type === "table") alignNumbers(node);
  else if ("children" in node) node.children.forEach(visit);
}

function alignNumbers(table: Table): void {
  const [head, ...rows] = table.children;
  table.align = (head?.children ?? []).map((_, column) => {
    const cells = rows.map((row) => textOf(row.children[column])).filter((text) => text !== "");
    const numbers = cells.length > 0 && cells.every((text) => NUMBER.test(text));
    return table.align?.[column] ?? (numbers ? "right" : null);
  });
}

function textOf(node: Nodes | undefined): string {
  if (!node) return "";
  if ("children" in node) return node.children.map(textOf).join("").trim();
  return "value" in node ? node.value.trim() : "";
}
