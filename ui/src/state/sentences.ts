/** Texts of servers, cut only where a sentence ends. */

const ABBREVIATED = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|st|dr|mr|mrs|ms)\.$/i;

/** A full stop and a space end a sentence, but not in "e.g. this". Names of models begin the next one in small letters. */
export function sentencesOf(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (const match of text.matchAll(/[.!?…][)"'”’]?\s+/g)) {
    const end = match.index + match[0].trimEnd().length;
    if (ABBREVIATED.test(text.slice(start, end))) continue;
    found.push(text.slice(start, end).trim());
    start = end;
  }
  const rest = text.slice(start).trim();
  return rest ? [...found, rest] : found;
}

/** What a person reads first, and what follows. */
export function firstSentence(text: string): [string, string] {
  const [first = "", ...rest] = sentencesOf(text);
  return [first && !/[.!?…][)"'”’]?$/.test(first) ? `${first}.` : first, rest.join(" ")];
}

/** As many sentences as fit; the first one always, as a whole. */
export function wholeSentences(text: string, most: number): string {
  const [first = "", ...rest] = sentencesOf(text);
  return rest.reduce(
    (kept, next) => (kept.length + 1 + next.length <= most ? `${kept} ${next}` : kept),
    first,
  );
}
