import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";

import { blocksOf } from "./blocks";
import { unknownCitations } from "./citations";
import { Prose } from "./Prose";

describe("blocks", () => {
  test("end at blank lines, but not inside code, lists or quotes", () => {
    const markdown = "One\n\n```py\na\n\nb\n```\n\n- x\n\n- y\n\n  more\n\nLast";
    expect(blocksOf(markdown).map((block) => block.trim())).toEqual([
      "One",
      "```py\na\n\nb\n```\n\n- x\n\n- y\n\n  more",
      "Last",
    ]);
  });

  test("stay together when a link is defined elsewhere", () => {
    expect(blocksOf("See [it][1].\n\n[1]: https://example.org")).toHaveLength(1);
  });

  test("only grow at the end while text comes in", () => {
    const text = "A para.\n\nAnother one.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nEnd.";
    let before: string[] = [];
    for (let n = 1; n <= text.length; n += 1) {
      const now = blocksOf(text.slice(0, n));
      expect(now.slice(0, before.length - 1).map((block) => block.trim())).toEqual(
        before.slice(0, -1).map((block) => block.trim()),
      );
      before = now;
    }
  });
});

describe("citations", () => {
  test("are buttons glued to the word before them", () => {
    const cite = vi.fn();
    const { container } = render(<Prose text="No jitter [1]. A cap[2][3]." sources={3} onCite={cite} />);
    expect([...container.querySelectorAll(".nb")].map((span) => span.textContent)).toEqual([
      "jitter1.",
      "cap23.",
    ]);
    fireEvent.click(screen.getByRole("button", { name: "Source 2" }));
    expect(cite).toHaveBeenCalledWith(2);
  });

  test("are marked where there is no such source", () => {
    const { container } = render(<Prose text="No jitter [7]. A cap [1, 9]." sources={2} />);
    const marked = [...container.querySelectorAll(".cite.none")];
    expect(marked.map((mark) => mark.textContent)).toEqual(["7? (no such source)", "9? (no such source)"]);
    expect(screen.getAllByRole("button").map((chip) => chip.textContent)).toEqual(["1"]);
  });

  test("stay text in code, as an index, and where nothing was read", () => {
    const { container, rerender } = render(<Prose text={"Take list[7] or `a[1]`."} sources={2} />);
    expect(container.textContent).toBe("Take list[7] or a[1].");
    rerender(<Prose text="No jitter [7]." />);
    expect(container.textContent).toBe("No jitter [7].");
    expect(container.querySelector(".cite")).toBeNull();
  });

  test("of nothing are told apart from the rest of an answer", () => {
    const answer = "One [1]. Two [7], [8]; and [7].\n\n```py\nx [9]\n```\n`y [10]` list[11]";
    expect(unknownCitations(answer, 2)).toEqual([7, 8]);
    expect(unknownCitations(answer, 0)).toEqual([]);
  });
});

describe("what a model or a person writes", () => {
  test.each([
    ['<script>window.x = 1</script><img src=x onerror="window.x=1">', "script, img, [onerror]"],
    ["![a](https://evil.example/p.png)", "img"],
    ["![a][b]\n\n[b]: https://evil.example/p.png", "img"],
    ["[a](javascript:alert(1))", "a"],
    ["[a](data:text/html,x)", "a"],
    ["<javascript:alert(1)>", "a"],
    ["<a href='javascript:alert(1)'>x</a>", "a"],
    ["<div\nonclick=alert(1)>\n\n<style>*{}</style>", "div[onclick], style"],
    ["a `b` <img\nsrc=x onerror=alert(1)> | <math><mtext><script>x</script>", "img, script, math"],
    ["<iframe src='https://evil.example'></iframe><svg onload=alert(1)>", "iframe, svg[onload]"],
  ])("%s becomes nothing that acts", (markdown, selector) => {
    const { container } = render(<Prose text={markdown} />);
    const outside = [...container.querySelectorAll(selector)].filter(
      (node) => !node.matches("a[href^='https://evil']"),
    );
    expect(outside).toEqual([]);
  });

  test.each([
    "Use <your key> here.",
    "A List<String> or Map<K, List<V>>.",
    "<result>",
    "<script>window.x = 1</script>",
    "Type <name:value> or <std::string>, not <br> or <!-- this -->.",
    '<img src=x onerror="window.x=1">',
    "<svg/onload=alert(1)>",
    "a < b > c << d",
    "<![CDATA[x]]> <?php echo 1 ?> <!DOCTYPE html>",
  ])("shows %s as it stands", (text) => {
    const { container } = render(<Prose text={text} />);
    expect(container.textContent).toBe(text);
    expect(container.querySelectorAll("p *, script, img, svg")).toHaveLength(0);
  });

  test("keeps the markdown between tags", () => {
    const { container } = render(<Prose text={"<result>\nIt is **done**.\n\n- one\n</result>"} />);
    expect(container.textContent.replaceAll(/\s+/g, " ")).toContain("<result> It is done.");
    expect(container.querySelector("strong")?.textContent).toBe("done");
    expect(container.querySelectorAll("li")).toHaveLength(1);
  });

  test("shows tags in code as they stand, and links in angle brackets as links", () => {
    const { container } = render(
      <Prose
        text={"`List<String>`\n\n```html\n<b>x</b>\n```\n\nSee <https://example.org/a> or <me@example.org>."}
      />,
    );
    expect(container.querySelector("p code")?.textContent).toBe("List<String>");
    expect(container.querySelector("pre")?.textContent).toBe("<b>x</b>");
    expect(screen.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual([
      "https://example.org/a",
      "mailto:me@example.org",
    ]);
    expect(container.querySelector("b")).toBeNull();
  });

  test("may hold links that show their real host", () => {
    render(<Prose text="[your bank](https://evil.example/login)" />);
    const link = screen.getByRole("link", { name: "your bank" });
    expect(link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(link.parentElement?.textContent).toContain("evil.example");
  });

  test("has code with its language and a way to copy it, and numbers to the right", () => {
    const { container } = render(<Prose text={"```toml\na = 1\n```\n\n| x | n |\n| - | - |\n| a | 12 |"} />);
    expect(container.querySelector("figcaption")?.textContent).toContain("toml");
    expect(screen.getByRole("button", { name: "Copy" })).toBeTruthy();
    expect(screen.getByText("12").className).toBe("r");
  });

  test("keeps the head of a column of numbers above them, and a mixed column in one line", () => {
    render(<Prose text={"| n | mixed |\n| - | - |\n| 1,204 ms | 7 |\n| 12 % | seven |"} />);
    expect(screen.getByRole("columnheader", { name: "n" }).className).toBe("r");
    expect(screen.getByText("12 %").className).toBe("r");
    expect(screen.getByText("7").className).toBe("");
  });
});
