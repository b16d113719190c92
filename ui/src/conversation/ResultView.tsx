import { JsonView, parseJson, type Json } from "../parts";
import type { ToolOutput } from "../state";
import { useLoaded } from "../pages/useLoaded";
import { holdsMedia, mediaOf, type Part } from "./media";

const TABLE_COLUMNS = 8;
const TABLE_ROWS = 200;
const SHOWN_AT_ONCE = 20_000;

/** What a call gave: with its pictures and sounds where it has any. */
export function OutputView({ output }: { output: ToolOutput }) {
  return holdsMedia(output) ? <Media output={output} /> : <ResultView text={output.text} />;
}

function Media({ output }: { output: ToolOutput }) {
  const { value, error } = useLoaded(output.result_id ?? "", () => mediaOf(output));
  if (!value)
    return (
      <>
        <ResultView text={output.text} />
        {error && <p className="bad">{error}</p>}
      </>
    );
  return (
    <div className="result-media">
      {value.map((part, n) => (
        <PartView key={n} part={part} />
      ))}
      {value.length === 0 && <ResultView text={output.text} />}
    </div>
  );
}

function PartView({ part: { kind, value } }: { part: Part }) {
  if (kind === "image") return <img className="result-image" src={value} alt="Result of the call" />;
  if (kind === "audio") return <audio className="result-audio" src={value} controls preload="metadata" />;
  return <ResultView text={value} />;
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
    <div className="pre wrap tall" tabIndex={0} aria-label="Result">
      {text.length > SHOWN_AT_ONCE ? `${text.slice(0, SHOWN_AT_ONCE)}\n…` : text}
    </div>
  );
}

type Row = Record<string, Json>;

/** Rows of plain values with the same few fields are a table. */
function tableOf(value: Json): Row[] | null {
  if (!Array.isArray(value) || value.length < 2) return null;
  const rows = value.filter(
    (row): row is Row => typeof row === "object" && row !== null && !Array.isArray(row),
  );
  if (rows.length !== value.length) return null;
  const columns = new Set(rows.flatMap((row) => Object.keys(row)));
  const flat = rows.every((row) =>
    Object.values(row).every((cell) => typeof cell !== "object" || cell === null),
  );
  return flat && columns.size > 0 && columns.size <= TABLE_COLUMNS ? rows : null;
}

function ResultTable({ rows }: { rows: Row[] }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <div className="result-table" tabIndex={0} role="group" aria-label="Result">
      <table className="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, TABLE_ROWS).map((row, n) => (
            <tr key={n}>
              {columns.map((column) => (
                <td key={column} className={typeof row[column] === "number" ? "r num" : undefined}>
                  {shown(row[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > TABLE_ROWS && <p className="dim">{rows.length - TABLE_ROWS} more rows in Raw.</p>}
    </div>
  );
}

function shown(cell: Json | undefined): string {
  if (cell === undefined || cell === null) return "–";
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}
