/** The page's policy lets no text become markup. One letter by its name is all that the reader of Markdown asks the
 * browser to decode; everything else that would be parsed as HTML or run as a script is refused. */

interface Policies {
  createPolicy(name: string, rules: { createHTML: (text: string) => string | null }): unknown;
}

const ONE_LETTER = /^&[0-9A-Za-z]+;$/;

export const onlyLetters = (text: string): string | null => (ONE_LETTER.test(text) ? text : null);

(globalThis as { trustedTypes?: Policies }).trustedTypes?.createPolicy("default", {
  createHTML: onlyLetters,
});
