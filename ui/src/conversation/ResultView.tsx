import { JsonView, parseJson, type Json } from "../parts";
import { DataTable, markdownOf, type Column, type Row } from "../prose/DataTable";
import type { ToolOutput } from "../state";
import { filesOf, textOf } from "./media";

const TABLE_COLUMNS = 8;
const SHOWN_AT_ONCE = 20_000;

/** What a call gave to read. What is to be seen or heard stands below the calls, as figures. */
export function OutputView({ output }: { output: ToolOutput }) {
  const text = textOf(output);
  if (!text && filesOf(output).length > 0) return <p className="dim">Shown below.</p>;
  return <ResultView text={text} />;
}

/** A result in its own form: a table, an image, a JSON tree, else plain text. Never markdown, never HTML. */
export function ResultView({ text }: { text: string }) {
  if (!text) return <p className="dim">(no output)</p>;
  if (/^data:image\/(png|jpeg|gif|webp);base64,[\w+/=]+$/.test(text))
    return <img className="result-image" src={text} alt="Result of the call" />;
  const json = parseJson(text);
  const rows = json === undefined ? null : tableOf(json);
  if (rows) return <ResultTable rows={rows} />;
  if (json !== undefined) return <JsonView value={json} />;
  return (
    <div className="pre wrap tall" dir="auto" tabIndex={0} aria-label="Result">
      {text.length > SHOWN_AT_ONCE ? `${text.slice(0, SHOWN_AT_ONCE)}\n…` : text}
    </div>
  );
}

type Fields = Record<string, Json>;

/** Rows of plain values with the same few fields are a table. */
function tableOf(value: Json): Fields[] | null {
  if (!Array.isArray(value) || value.length < 2) return null;
  const rows = value.filter(
    (row): row is Fields => typeof row === "object" && row !== null && !Array.isArray(row),
  );
  if (rows.length !== value.length) return null;
  const columns = new Set(rows.flatMap((row) => Object.keys(row)));
  const flat = rows.every((row) =>
    Object.values(row).every((cell) => typeof cell !== "object" || cell === null),
  );
  return flat && columns.size > 0 && columns.size <= TABLE_COLUMNS ? rows : null;
}

function ResultTable({ rows: records }: { rows: Fields[] }) {
  const names = [...new Set(records.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name): Column => ({
    head: name,
    name,
    right: records.every((row) => typeof (row[name] ?? 0) === "number"),
  }));
  const rows = records.map((record): Row => ({
    cells: names.map((name) => shown(record[name]) || "–"),
    texts: names.map((name) => shown(record[name])),
  }));
  const markdown = (order: readonly number[]) =>
    markdownOf(
      columns,
      order.flatMap((n) => rows[n] ?? []),
    );
  return <DataTable columns={columns} rows={rows} markdown={markdown} dir="auto" />;
}

function shown(cell: Json | undefined): string {
  if (cell === undefined || cell === null) return "";
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}
