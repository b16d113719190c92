/** Numbers that a browser would round when it reads them: ids of 19 digits are common, and doubles hold 15. */

/** A string, skipped whole so that digits in it are not taken for numbers, or a number. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gis;

/** Whether every number of a JSON text is worth the same after it was read and written again. */
export function keepsNumbers(json: string): boolean {
  const found = json.match(STRING_OR_NUMBER) ?? [];
  return found.filter((one) => !one.startsWith('"')).every(isKept);
}

/** An object as JSON with one more field, whose value is JSON already and is not read. */
export function withJson(fields: object, name: string, json: string): string {
  const before = JSON.stringify(fields).slice(0, -1);
  return `${before}${before === "{" ? "" : ","}${JSON.stringify(name)}:${json}}`;
}

function isKept(number: string): boolean {
  return worth(number) === worth(JSON.stringify(Number(number)));
}

/** A number in one spelling: `1.50`, `15e-1` and `1.5` are worth the same. */
function worth(number: string): string {
  const [, sign, whole = "", part = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = (whole + part).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  if (short === "") return whole === "" ? "none" : "0";
  return `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}
