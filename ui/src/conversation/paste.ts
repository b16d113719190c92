/** Long pastes in a message: what is folded away, and the words that go with it. */

export interface Folded {
  paste: string;
  /** What shows of it while it is folded. */
  first: string;
  lines: number;
  /** The person's own words below the paste, which are never folded. */
  words: string;
}

const MOST_LINES = 40;
const MOST_CHARACTERS = 4000;
const SHOWN_LINES = 8;
const SHOWN_CHARACTERS = 800;
const MOST_WORDS = 600;

/** Null for a message that is short enough to be shown whole. */
export function foldOf(text: string): Folded | null {
  if (text.length <= MOST_CHARACTERS && countLines(text) <= MOST_LINES) return null;
  const words = lastWords(text);
  const paste = text.slice(0, text.length - words.length).trimEnd();
  const first = paste.split("\n", SHOWN_LINES).join("\n").slice(0, SHOWN_CHARACTERS);
  return { paste, first, lines: countLines(paste), words: words.trim() };
}

/** A question is mostly written below what it is about, with a blank line between. */
function lastWords(text: string): string {
  const words = /\n[ \t]*\n(?!\s)([^\n]+(?:\n[^\n]+){0,3})\s*$/.exec(text)?.[0] ?? "";
  return words.length <= MOST_WORDS ? words : "";
}

function countLines(text: string): number {
  return text.trimEnd().split("\n").length;
}
