import { expect, test } from "vitest";

import { firstSentence, wholeSentences } from "./sentences";

test.each([
  [
    "api.z.ai rejected the API key. HTTP 401: bad key.",
    "api.z.ai rejected the API key.",
    "HTTP 401: bad key.",
  ],
  ["Use a port, e.g. 8080, or none. Try again.", "Use a port, e.g. 8080, or none.", "Try again."],
  ["Name a model, e.g. GLM. Then retry.", "Name a model, e.g. GLM.", "Then retry."],
  ["glm-4.7 sent 0.5 of it", "glm-4.7 sent 0.5 of it.", ""],
  ["The reply broke off. glm-4.7: cut.", "The reply broke off.", "glm-4.7: cut."],
  ["Busy", "Busy.", ""],
  ["", "", ""],
])("%s begins with a whole sentence", (text, first, rest) => {
  expect(firstSentence(text)).toEqual([first, rest]);
});

test("what is too long is cut after a sentence, and one that is too long by itself is kept whole", () => {
  const long = `${"word ".repeat(80)}end.`;
  expect(wholeSentences(`Short. ${long}`, 300)).toBe("Short.");
  expect(wholeSentences(long, 300)).toBe(long);
});
