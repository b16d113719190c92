/** Rows in the order of a column: numbers by their size, all else as a person would look it up. */

export interface Sorting {
  column: number;
  down: boolean;
}

/** What a click on a head does: up, then down, then as it was written. */
export function sortedNext(now: Sorting | null, column: number): Sorting | null {
  if (now?.column !== column) return { column, down: false };
  return now.down ? null : { column, down: true };
}

/** The places of the rows in their new order. Equal ones keep theirs; empty cells come last either way. */
export function orderOf(rows: readonly (readonly string[])[], sorting: Sorting | null): number[] {
  const order = rows.map((_, n) => n);
  if (!sorting) return order;
  const cells = rows.map((row) => row[sorting.column]?.trim() ?? "");
  const compare = comparison(cells);
  const sign = sorting.down ? -1 : 1;
  return order.toSorted((a, b) => {
    const [first = "", second = ""] = [cells[a], cells[b]];
    if (!first || !second) return Number(!first) - Number(!second);
    return sign * compare(first, second);
  });
}

function comparison(cells: readonly string[]): (a: string, b: string) => number {
  const read = cells.filter(Boolean).map(numberIn);
  const units = new Set(read.map((one) => one?.unit));
  if (units.size === 1 && !units.has(undefined))
    return (a, b) => (numberIn(a)?.value ?? 0) - (numberIn(b)?.value ?? 0);
  const { compare } = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  return compare;
}

const NUMBER = /^([-+−]?)([\d.,'\s]*\d)\s*(%|[^\d\s.,]{0,4})$/;

/** `1,204 ms`, `1.204,5` or `−3`: a mark that stands alone, and last, is the decimal one. */
function numberIn(text: string): { value: number; unit: string } | null {
  const [, sign = "", digits = "", unit = ""] = NUMBER.exec(text) ?? [];
  if (!digits) return null;
  const at = decimalMark(digits);
  const value = Number(`${onlyDigits(digits.slice(0, at))}.${onlyDigits(digits.slice(at)) || 0}`);
  return { value: sign && sign !== "+" ? -value : value, unit };
}

function decimalMark(digits: string): number {
  const marks = [...digits.matchAll(/[.,]/g)];
  const { 0: mark = "", index: at } = marks.at(-1) ?? { index: digits.length };
  const isDecimal = digits.indexOf(mark) === at && !isGroup(digits, at, marks.length);
  return isDecimal ? at : digits.length;
}

function onlyDigits(text: string): string {
  return text.replace(/\D/g, "");
}

/** `1,204` is one thousand; `1.204` may be either, and dots are decimal far more often. */
function isGroup(digits: string, at: number, marks: number): boolean {
  return digits[at] === "," && marks === 1 && /^\d{3}$/.test(digits.slice(at + 1));
}
