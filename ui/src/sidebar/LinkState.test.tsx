import { act, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { withoutMarks } from "./ConversationRow";
import { LinkState, noteLink } from "./LinkState";

test.each([
  [404, "Connected"],
  [401, "Signed out"],
])("a refusal with %s is called %s", (status, words) => {
  render(<LinkState />);
  act(() => noteLink({ state: "refused", status, message: "no" }));
  expect(screen.getByText(words)).toBeTruthy();
});

test("an excerpt is shown without the signs of markdown, names whole", () => {
  expect(withoutMarks('…1}\n```\n\n**calculate**\n\n```json\n{"snake_case": 2}')).toBe(
    '…1} calculate {"snake_case": 2}',
  );
});
