import { keepsNumbers, parseJson, type Json } from "../parts";

/** Arguments in full: strings plain, the rest as JSON, nothing cut. Those that reading would round stay as written. */
export function KeyValues({ json }: { json: string }) {
  const value = keepsNumbers(json) ? parseJson(json) : undefined;
  if (value === undefined || value === null || typeof value !== "object" || Array.isArray(value))
    return (
      <div className="pre wrap" tabIndex={0} aria-label="Arguments">
        {visible(json)}
      </div>
    );
  const entries = Object.entries(value);
  if (entries.length === 0) return <p className="dim">No arguments.</p>;
  return (
    <div className="args-box" tabIndex={0} role="group" aria-label="Arguments">
      <dl className="kv">
        {entries.map(([key, inner]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{typeof inner === "string" ? visible(inner) : visible(compact(inner))}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Characters that hide or turn text around are shown by their code, so that what is read is what is sent. */
export function visible(text: string): string {
  return text.replace(
    /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (hidden) => `⟨U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase()}⟩`,
  );
}

/** JSON on one line with a space after each comma, and not a letter changed. */
function compact(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(compact).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${compact(inner)}`);
  return `{${fields.join(", ")}}`;
}
