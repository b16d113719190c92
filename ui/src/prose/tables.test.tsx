import { fireEvent, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import { csvOf } from "./csv";
import { Prose } from "./Prose";
import { orderOf } from "./sorting";

const column = (n: number) =>
  [...document.querySelectorAll(`tbody td:nth-child(${n})`)].map((cell) => cell.textContent);

const TABLE = "| Name | p95 |\n| - | - |\n| **b** | 10 ms |\n| a | 9 ms |\n| c | 1,204 ms |\n| d | 9 ms |";

describe("a table", () => {
  test("is sorted by a click on a head, up, down, and back", () => {
    render(<Prose text={TABLE} />);
    const head = screen.getByRole("columnheader", { name: "p95" });
    expect(head.getAttribute("aria-sort")).toBe("none");
    const press = () => fireEvent.click(screen.getByRole("button", { name: "p95" }));
    press();
    expect(column(2)).toEqual(["9 ms", "9 ms", "10 ms", "1,204 ms"]);
    expect(column(1)).toEqual(["a", "d", "b", "c"]);
    expect(head.getAttribute("aria-sort")).toBe("ascending");
    press();
    expect(column(1)).toEqual(["c", "b", "a", "d"]);
    expect(head.getAttribute("aria-sort")).toBe("descending");
    press();
    expect(column(1)).toEqual(["b", "a", "c", "d"]);
    expect(head.getAttribute("aria-sort")).toBe("none");
  });

  test("is copied as CSV and as Markdown in the order that is shown", async () => {
    const user = userEvent.setup();
    render(<Prose text={TABLE} />);
    fireEvent.click(screen.getByRole("button", { name: "Name" }));
    await user.click(screen.getByRole("button", { name: "Copy as CSV" }));
    expect(await navigator.clipboard.readText()).toBe(
      'Name,p95\r\na,9 ms\r\nb,10 ms\r\nc,"1,204 ms"\r\nd,9 ms',
    );
    await user.click(screen.getByRole("button", { name: "Copy as Markdown" }));
    expect(await navigator.clipboard.readText()).toBe(
      "| Name | p95 |\n| - | - |\n| a | 9 ms |\n| **b** | 10 ms |\n| c | 1,204 ms |\n| d | 9 ms |",
    );
  });

  test("says how many rows it has, and shows fifty of many until asked", () => {
    const rows = Array.from({ length: 120 }, (_, n) => `| ${n} |`).join("\n");
    render(<Prose text={`| n |\n| - |\n${rows}`} />);
    expect(screen.getByText("120 rows")).toBeTruthy();
    expect(column(1)).toHaveLength(50);
    fireEvent.click(screen.getByRole("button", { name: "Show all 120 rows" }));
    expect(column(1)).toHaveLength(120);
  });
});

test("numbers sort by size in either way of writing them, and empty cells come last", () => {
  const order = (cells: string[], down = false) =>
    orderOf(
      cells.map((cell) => [cell]),
      { column: 0, down },
    ).map((n) => cells[n]);
  expect(order(["1,204", "−3", "", "9.8", "12"])).toEqual(["−3", "9.8", "12", "1,204", ""]);
  expect(order(["1.204,5", "9,8", ""], true)).toEqual(["1.204,5", "9,8", ""]);
  expect(order(["v10", "v9", "V1"])).toEqual(["V1", "v9", "v10"]);
  expect(order(["2 MB", "10 kB"])).toEqual(["2 MB", "10 kB"]);
});

test("a cell of CSV is quoted where it must be, and never a formula", () => {
  expect(csvOf([['say "a"', "b,c", "d\ne", "f"]])).toBe('"say ""a""","b,c","d\ne",f');
  expect(csvOf([["=1+1", "@x", "-5", "+3.2 %", "-x", "-1+cmd|' /C calc'!A0"]])).toBe(
    "'=1+1,'@x,-5,+3.2 %,'-x,'-1+cmd|' /C calc'!A0",
  );
});
