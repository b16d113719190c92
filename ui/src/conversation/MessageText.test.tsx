import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { MessageText } from "./MessageText";

const lines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1} of a log`).join("\n");

test("a paste of many lines shows eight of them until it is opened, and the question below it", () => {
  const { container } = render(<MessageText text={`${lines(612)}\n\nWhich policy fixes this?`} />);
  const paste = container.querySelector(".paste")!;
  expect(paste.textContent.split("\n")).toHaveLength(8);
  expect(screen.getByText("Which policy fixes this?")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: /^Show all 612 lines, 11\skB$/ }));
  expect(paste.textContent).toBe(lines(612));
  fireEvent.click(screen.getByRole("button", { name: "Show less" }));
  expect(paste.textContent.split("\n")).toHaveLength(8);
});

test("one long line is folded by its length", () => {
  const { container } = render(<MessageText text={"a".repeat(4001)} />);
  expect(container.querySelector(".paste")?.textContent.length).toBeLessThan(1000);
  expect(screen.getByRole("button", { name: /^Show all 4\skB$/ })).toBeTruthy();
});

test("forty short lines are shown as they are, letter for letter", () => {
  const text = `  ${lines(40)}\n`;
  const { container } = render(<MessageText text={text} />);
  expect(container.querySelector(".bubble")?.textContent).toBe(text);
  expect(screen.queryByRole("button")).toBeNull();
});
