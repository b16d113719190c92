/** Comma-separated values as RFC 4180 has them. */

export function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => cells.map(cell).join(",")).join("\r\n");
}

// A cell may hold what a page on the web says, and a spreadsheet would run it as a formula.
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[-+]?[\d.,\s]*\d\s?%?$/;

function cell(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
