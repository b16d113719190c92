/** Aligns columns of numbers to the right, heads included, where the writer chose no side; and keeps a table's source. */

import type { Nodes, Table } from "mdast";

const NUMBER = /^[-+−]?\d[\d.,\s]*(%|[a-zµ]{1,3})?$/i;

/** A remark plugin. */
export function tables() {
  return (tree: Nodes, file: { value: unknown }) => visit(tree, String(file.value));
}

function visit(node: Nodes, source: string): void {
  if (node.type === "table") {
    alignNumbers(node);
    keepSource(node, source);
  } else if ("children" in node) node.children.forEach((child) => visit(child, source));
}

function keepSource(table: Table, source: string): void {
  const { start, end } = table.position ?? {};
  const dataSource = source.slice(start?.offset ?? 0, end?.offset ?? 0);
  table.data = { ...table.data, hProperties: { ...table.data?.hProperties, dataSource } };
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
