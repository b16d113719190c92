import { memo } from "react";

/** JSON as written, or what looks like it: strings and numbers in their colours. */
export const JsonText = memo(function JsonText({ text }: { text: string }) {
  return tokensOf(text).map(({ kind, text: part }, n) =>
    kind ? (
      <span key={n} className={kind}>
        {part}
      </span>
    ) : (
      part
    ),
  );
});

export interface Token {
  kind: "" | "s" | "n";
  text: string;
}

const MOST = 20_000; // beyond this the colours cost more than they tell

/** A name before a colon stays plain. */
export function tokensOf(text: string): Token[] {
  if (text.length > MOST) return [{ kind: "", text }];
  const tokens: Token[] = [];
  const found = /"(?:[^"\\\n]|\\.)*"(\s*:)?|\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?\b/g;
  let last = 0;
  for (const match of text.matchAll(found)) {
    if (match[1] !== undefined) continue;
    if (match.index > last) tokens.push({ kind: "", text: text.slice(last, match.index) });
    tokens.push({ kind: match[0].startsWith('"') ? "s" : "n", text: match[0] });
    last = match.index + match[0].length;
  }
  if (last < text.length) tokens.push({ kind: "", text: text.slice(last) });
  return tokens;
}
