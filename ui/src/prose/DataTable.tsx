import { useMemo, useState, type ReactNode } from "react";

import { CopyButton, Icon, plural } from "../parts";
import { csvOf } from "./csv";
import { orderOf, sortedNext, type Sorting } from "./sorting";

export interface Column {
  head: ReactNode;
  name: string;
  right: boolean;
}

export interface Row {
  cells: readonly ReactNode[];
  /** The same as text: what is sorted and copied. */
  texts: readonly string[];
}

interface Props {
  columns: readonly Column[];
  rows: readonly Row[];
  /** The rows in this order, as Markdown. */
  markdown: (order: readonly number[]) => string;
  dir?: string;
}

/**
 * Fewer are drawn at once. All of them on one click, rather than only those in view: the browser's own search and
 * copying work on what is drawn, and a few hundred rows cost nothing.
 */
const FOLDED_FROM = 50;

/** A table in a box of its own: its head stays in view, a click on it sorts. */
export function DataTable({ columns, rows, markdown, dir }: Props) {
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [all, setAll] = useState(false);
  const order = useMemo(
    () =>
      orderOf(
        rows.map((row) => row.texts),
        sorting,
      ),
    [rows, sorting],
  );
  const shown = all ? order : order.slice(0, FOLDED_FROM);
  const csv = () => csvOf([columns.map(({ name }) => name), ...order.map((n) => rows[n]?.texts ?? [])]);
  return (
    <div className="tbl-box">
      <div className="tbl-head">
        <span className="num">{plural(rows.length, "row")}</span>
        <span className="grow" />
        <CopyButton text={csv} caption="Copy as CSV" />
        <CopyButton text={() => markdown(order)} caption="Copy as Markdown" />
      </div>
      <div className="tbl" dir={dir} tabIndex={0} role="group" aria-label="Table">
        <table>
          <thead>
            <tr>
              {columns.map((column, n) => (
                <Head
                  key={n}
                  column={column}
                  sorted={sorting?.column === n ? sorting : null}
                  onSort={() => setSorting(sortedNext(sorting, n))}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((n) => (
              <tr key={n}>
                {columns.map(({ right }, column) => (
                  <td key={column} className={right ? "r" : undefined}>
                    {rows[n]?.cells[column]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < rows.length && (
        <button type="button" className="link-btn tbl-more" onClick={() => setAll(true)}>
          <Icon name="down" />
          Show all {plural(rows.length, "row")}
        </button>
      )}
    </div>
  );
}

function Head({ column, sorted, onSort }: { column: Column; sorted: Sorting | null; onSort: () => void }) {
  const order = sorted ? (sorted.down ? "descending" : "ascending") : "none";
  return (
    <th className={column.right ? "r" : undefined} aria-sort={order} scope="col">
      <button type="button" onClick={onSort}>
        {column.head}
        <Icon name={sorted?.down ? "down" : "up"} className="sort" />
      </button>
    </th>
  );
}

/** A table as Markdown from its texts alone. */
export function markdownOf(columns: readonly Column[], rows: readonly Row[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text) => text.replaceAll("|", "\\|").replace(/\s+/g, " ")).join(" | ")} |`;
  return [
    line(columns.map(({ name }) => name)),
    line(columns.map(({ right }) => (right ? "---:" : "---"))),
    ...rows.map(({ texts }) => line(texts)),
  ].join("\n");
}
