import { expect, test } from "vitest";

import { errorOf, errorText } from ".";

async function wordsOf(hint: string): Promise<string> {
  const body = { success: false, error: { code: "not_found", message: "There is none.", hint } };
  return errorText(await errorOf(new Response(JSON.stringify(body), { status: 404 })));
}

test.each([
  ["GET /servers shows those that are there.", "The Servers page shows those that are there."],
  ["GET /conversations shows those that are there.", "The list beside this page shows those that are there."],
  ["GET /conversations/{id}/messages shows its turns.", "The chat shows its turns."],
  [
    "It is stopped. POST /servers/{id}/start starts it.",
    "It is stopped. Start on the Servers page starts it.",
  ],
  ["Free some space.", "Free some space."],
])("a hint is told in the page's own places: %s", async (hint, words) => {
  expect(await wordsOf(hint)).toBe(`There is none. ${words}`);
});
