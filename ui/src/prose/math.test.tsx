import { act, render, screen } from "@testing-library/react";
import { describe, expect, test } from "vitest";

import { blocksOf } from "./blocks";
import { selectedWithTex } from "./math/copy";
import { Prose } from "./Prose";

const formulas = (container: HTMLElement) =>
  [...container.querySelectorAll("[data-tex]")].map((found) => found.getAttribute("data-tex"));

/** Drawn, and with the part for formulas loaded. */
async function draw(text: string) {
  const { container } = render(<Prose text={text} />);
  await act(() => import("./math"));
  return container;
}

describe("a formula", () => {
  test.each([
    ["The area \\(a^2\\) of it.", ["\\(a^2\\)"]],
    ["The area $a^2$ of it.", ["$a^2$"]],
    ["It is $$a^2$$ in all.", ["$$a^2$$"]],
    ["It is \\[a^2\\] in all.", ["\\[a^2\\]"]],
    ["The $n$th one, then $m$.", ["$n$", "$m$"]],
    ["其中$x$是", ["$x$"]],
    ["$a_1 * b_1$ and $c_1 * d_1$", ["$a_1 * b_1$", "$c_1 * d_1$"]],
    ["$2x+1$ and $\\$5$", ["$2x+1$", "$\\$5$"]],
    ["- a list\n  $$\n  x\n  $$", ["$$\nx\n$$"]],
    ["> quoted \\(x\\)", ["\\(x\\)"]],
    ["| a |\n| - |\n| $x$ |", ["$x$"]],
    ["\\(a\nb\\)", ["\\(a\nb\\)"]],
  ])("is found in %j", async (text, found) => {
    const container = await draw(text);
    expect(formulas(container)).toEqual(found);
    expect(container.querySelectorAll("math")).toHaveLength(found.length);
  });

  test.each([
    "It costs $5 and $6.",
    "From $5 to $6, or $5/$6.",
    "US$5 or US$6",
    "10$ here and 20$ there",
    "Set $HOME and $PATH.",
    "**$5** and **$6**",
    "$ x $ and $",
    "`$x$` and `\\(x\\)`",
  ])("is not seen in %j", async (text) => {
    const container = await draw(text);
    expect(formulas(container)).toEqual([]);
    expect(container.textContent).toBe(text.replaceAll(/[*`]/g, ""));
  });

  test("is not seen in escaped brackets, check boxes and escaped links", async () => {
    const container = await draw("\\[ \\] open, \\[words\\](x), \\\\(no\\\\)");
    expect(formulas(container)).toEqual([]);
  });

  test("keeps every backslash and underscore of its source", async () => {
    const tex = "\\frac{a_1}{b_1} \\, \\{x\\} \\\\ *y* \\#";
    const container = await draw(`Before \\(${tex}\\) after`);
    expect(formulas(container)).toEqual([`\\(${tex}\\)`]);
  });

  test("is MathML, with a fraction as a fraction", async () => {
    const container = await draw("$$\\frac{1}{2}$$");
    expect(container.querySelector("math mfrac")?.textContent).toBe("12");
    expect(container.querySelector("math")?.namespaceURI).toBe("http://www.w3.org/1998/Math/MathML");
    expect(container.querySelector(".tex.display")?.getAttribute("dir")).toBe("ltr");
  });

  test("that fails shows its source and says so", async () => {
    const container = await draw("So \\(\\frac{1}{\\) it is.");
    expect(container.querySelector("math")).toBeNull();
    expect(container.querySelector("code")?.textContent).toBe("\\(\\frac{1}{\\)");
    expect(screen.getByText("Couldn’t render")).toBeTruthy();
  });

  test("sets no address and no name in the page", async () => {
    const container = await draw("$$\\href{javascript:alert(1)}{x} \\label{root}$$ and \\(\\id{root}{x}\\)");
    expect(container.querySelectorAll("[href], [id], a, script")).toHaveLength(0);
  });

  test("is shown as written while it grows, without an error", async () => {
    const text = "First \\(a^2 + \\frac{b}{c}\\) then\n\n$$\nx =\n\n\\frac{1}{2}\n$$\n\nEnd.";
    await draw("$x$");
    for (let n = 1; n <= text.length; n += 1) {
      const { container, unmount } = render(<Prose text={text.slice(0, n)} growing={n < text.length} />);
      expect(container.textContent).not.toContain("Couldn’t render");
      if (n === 14) expect(container.textContent).toBe("First \\(a^2 +");
      unmount();
    }
  });
});

describe("a display formula", () => {
  test("is one block with its blank lines, next to text without any", () => {
    const text = "It is\n$$\na\n\n- b\n$$\nwhere\n\n\\[ c \\]\nand\n\n```tex\n$$\n```\n\n$$ open";
    expect(blocksOf(text).map((block) => block.trim())).toEqual([
      "It is",
      "$$\na\n\n- b\n$$",
      "where",
      "\\[ c \\]",
      "and",
      "```tex\n$$\n```",
      "$$ open",
    ]);
  });

  test("that is never closed does not take the rest of the answer along", async () => {
    const container = await draw("$$ is money\n\n**Bold** text.");
    expect(container.querySelector("strong")?.textContent).toBe("Bold");
  });

  test("that begins on the line of its mark ends where it ends", async () => {
    const container = await draw("$$ x = \\begin{aligned}\na &= b\n\\end{aligned} $$\n\n**Bold** text.");
    expect(container.querySelectorAll(".tex.display math")).toHaveLength(1);
    expect(container.querySelector("strong")?.textContent).toBe("Bold");
  });
});

test("what is copied holds the TeX of each formula", async () => {
  const container = await draw("One \\(a^2\\) two.\n\n$$\nb\n$$\n\nThree.");
  const selection = document.getSelection()!;
  selection.selectAllChildren(container);
  expect(selectedWithTex(selection)).toBe("One \\(a^2\\) two.\n\n$$\nb\n$$\n\nThree.");
  selection.selectAllChildren(container.querySelector("msup")!);
  expect(selectedWithTex(selection).trim()).toBe("\\(a^2\\)");
  selection.removeAllRanges();
});
