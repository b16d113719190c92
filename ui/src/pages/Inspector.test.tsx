import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, test, vi } from "vitest";

import { isDurable } from "../state";
import { scene } from "../testing/scenes";
import { Refusal, serve } from "../testing/server";
import Inspector from "./Inspector";

function logOf(name: string, turnId: string) {
  const rows = scene(name).filter((event) => isDurable(event) && event.turn_id === turnId);
  return { events: rows.map(({ type, ...rest }) => ({ event: type, ...rest })) };
}

const PROMPT = {
  request: 2,
  requests: 3,
  moved: ["loaded"],
  body: {
    model: "glm-4.7",
    messages: [
      { role: "system", content: "Be careful." },
      { role: "user", content: "Compare <b>them</b>." },
    ],
    tools: [],
  },
};

beforeEach(() => {
  history.replaceState(null, "", "/ui/c/conv-1");
});

async function open(name: string, turnId: string, round = 0) {
  const asked = serve({
    [`GET /turns/${turnId}/log`]: logOf(name, turnId),
    [`GET /turns/${turnId}/prompt`]: PROMPT,
  });
  const onClose = vi.fn();
  const { rerender } = render(<Inspector turnId={turnId} round={round} onClose={onClose} />);
  await screen.findByRole("group", { name: "Steps" });
  const showRound = (next: number) => rerender(<Inspector turnId={turnId} round={next} onClose={onClose} />);
  return { asked, onClose, showRound };
}

const steps = () => within(screen.getByRole("group", { name: "Steps" })).getAllByRole("button");
const pressed = () => steps().find((step) => step.getAttribute("aria-pressed") === "true");

describe("a finished turn", () => {
  test("shows the six figures", async () => {
    await open("pool-done", "turn-b");
    const figures = screen.getAllByRole("term").map((term) => term.textContent);
    expect(figures.slice(0, 6)).toEqual([
      "Outcome",
      "Total",
      "Model",
      "Tools",
      "Waited for you",
      "Tokens in, out",
    ]);
    expect(screen.getByText("Answered")).toBeTruthy();
  });

  test("opens at the round that was clicked in the thread", async () => {
    const { asked, showRound } = await open("pool-done", "turn-b", 2);
    expect(pressed()?.textContent).toContain("Round 2");
    await screen.findByText(/Request 2 of 3/);
    expect(asked.at(-1)?.path).toBe("/turns/turn-b/prompt?request=2");
    showRound(3);
    expect(pressed()?.textContent).toContain("Answer");
  });

  test("moves through the steps with the arrows, Home and End, as one tab stop", async () => {
    await open("pool-done", "turn-b", 1);
    const user = userEvent.setup();
    pressed()?.focus();
    await user.keyboard("{ArrowDown}");
    expect(document.activeElement?.textContent).toContain("files.read_file");
    await user.keyboard("{End}");
    expect(document.activeElement?.textContent).toContain("Answer");
    expect(location.search).toContain("round=3");
    await user.keyboard("{Home}{ArrowUp}");
    expect(document.activeElement?.textContent).toContain("Round 1");
    expect(steps().filter((step) => step.tabIndex === 0)).toHaveLength(1);
  });

  test("puts bars in place without style attributes in its HTML", async () => {
    await open("pool-done", "turn-b", 1);
    const bar = steps()[0]?.querySelector<HTMLElement>(".track i");
    expect(bar?.style.width).toMatch(/%$/);
  });

  test("shows the prompt as text, never as HTML", async () => {
    await open("pool-done", "turn-b", 2);
    const user = userEvent.setup();
    await user.click(await screen.findByRole("button", { name: /^user/ }));
    expect(screen.getByLabelText("user, the exact text").textContent).toBe("Compare <b>them</b>.");
  });

  test("shows what a call was sent and what it gave", async () => {
    await open("pool-done", "turn-b", 1);
    const user = userEvent.setup();
    await user.click(screen.getByRole("button", { name: /tracker\.search_issues/ }));
    await user.click(screen.getByRole("tab", { name: "Result" }));
    expect(screen.getByText("tool_error")).toBeTruthy();
    await user.click(screen.getByRole("tab", { name: /Events/ }));
    expect(screen.getByRole("button", { name: /tool_finished/ })).toBeTruthy();
  });
});

test("a repair is shown as it was written and as it was used", async () => {
  await open("states", "turn-s1", 1);
  const user = userEvent.setup();
  await user.click(screen.getByRole("tab", { name: /Parsed reply/ }));
  expect(
    screen.getByText("A call was written as text. Read as a call, because the tool was offered."),
  ).toBeTruthy();
  expect(screen.getByText('bench.restart_benchmark {"restarts":40}')).toBeTruthy();
});

test("a turn that failed shows why, and that no reply came", async () => {
  await open("ends", "turn-e2", 1);
  const user = userEvent.setup();
  expect(screen.getByText("Failed")).toBeTruthy();
  await user.click(screen.getByRole("tab", { name: /Parsed reply/ }));
  expect(screen.getByText(/Attempt failed/)).toBeTruthy();
  expect(screen.getByText("No reply has come.")).toBeTruthy();
});

test("a log that cannot be read says so", async () => {
  serve({
    "GET /turns/turn-x/log": new Refusal(404, { code: "not_found", message: "There is no turn turn-x." }),
  });
  render(<Inspector turnId="turn-x" round={0} onClose={vi.fn()} />);
  expect((await screen.findByRole("alert")).textContent).toContain("There is no turn turn-x.");
});

test("the close button closes", async () => {
  const { onClose } = await open("pool-done", "turn-b");
  await userEvent.setup().click(screen.getByRole("button", { name: "Close the inspector" }));
  expect(onClose).toHaveBeenCalledOnce();
});
