import type { Element, Nodes } from "hast";
import { isValidElement, useMemo, type ReactElement, type ReactNode } from "react";

import { DataTable, type Column, type Row } from "./DataTable";

interface Props {
  /** The head and the body, as Markdown made them. */
  children?: ReactNode;
  node: Element | undefined;
  dir: string | undefined;
}

/** A table that somebody wrote in Markdown. */
export function ProseTable({ children, node, dir }: Props) {
  const { columns, rows } = useMemo(() => partsOf(children, node), [children, node]);
  const source = String(node?.properties.dataSource ?? "")
    .split("\n")
    .map((line) => line.replace(/^[\s>]+/, "")); // within a list or a quote
  const markdown = (order: readonly number[]) =>
    [...source.slice(0, 2), ...order.map((n) => source[n + 2])].join("\n");
  return <DataTable columns={columns} rows={rows} markdown={markdown} dir={dir} />;
}

type Drawn = ReactElement<{ children?: ReactNode; style?: { textAlign?: string } }>;

/** What is drawn comes from the children, what is sorted and copied from the tree behind them. */
function partsOf(children: ReactNode, node: Element | undefined): { columns: Column[]; rows: Row[] } {
  const [head, ...body] = elementsIn(children).flatMap((part) => elementsIn(part.props.children));
  const [names = [], ...texts] = rowsOf(node);
  const columns = elementsIn(head?.props.children).map((cell, n): Column => ({
    head: cell.props.children,
    name: names[n] ?? "",
    right: cell.props.style?.textAlign === "right",
  }));
  const rows = body.map((row, n): Row => ({
    cells: elementsIn(row.props.children).map((cell) => cell.props.children),
    texts: texts[n] ?? [],
  }));
  return { columns, rows };
}

function elementsIn(children: ReactNode): Drawn[] {
  return [children].flat().filter((child): child is Drawn => isValidElement(child));
}

function rowsOf(node: Element | undefined): string[][] {
  const rows = (node?.children ?? []).flatMap((part) => elementsOf(part));
  return rows.map((row) => elementsOf(row).map((cell) => textOf(cell).trim()));
}

function elementsOf(node: Nodes): Element[] {
  const children: Nodes[] = "children" in node ? node.children : [];
  return children.filter((child) => child.type === "element");
}

function textOf(node: Nodes): string {
  if (node.type === "text") return node.value;
  return "children" in node ? node.children.map(textOf).join("") : "";
}
