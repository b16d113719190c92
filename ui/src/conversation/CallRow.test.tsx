import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import { drawOpen, recordRequests, tool, turnOf } from "../testing/open";
import { callsOf, type Call, type Turn } from "../state";
import { CallRow } from "./CallRow";
import { DraftCalls } from "./DraftCalls";

function draw(turn: Turn, call: Call) {
  return drawOpen(<CallRow call={call} turn={turn} />, [
    tool("bench", "restart_benchmark", { title: "Restart benchmark" }),
  ]);
}

function nth(turn: Turn, index: number): Call {
  const call = callsOf(turn).at(index);
  if (!call) throw new Error("no such call");
  return call;
}

const row = () => screen.getByRole("button", { expanded: false });

describe("a call on its line", () => {
  const ended = turnOf("states", "turn-s2");

  test.each([
    [0, "Failed"],
    [1, "Not sent"],
    [2, "Timed out"],
    [3, "Denied by you"],
    [4, "Denied by rule 2"],
    [5, "Outcome unknown"],
  ])("number %i says %s", (index, words) => {
    draw(ended, nth(ended, index));
    expect(screen.getByText(words).className).toBe("say");
  });

  test("that worked says nothing but to a screen reader", () => {
    const turn = turnOf("quiet", "turn-f");
    const { container } = draw(turn, nth(turn, 0));
    expect(container.querySelector(".say")).toBeNull();
    expect(screen.getByText(/^Done:/).className).toBe("vh");
  });

  test("that was stopped says by whom", () => {
    const turn = turnOf("states", "turn-s3");
    draw(turn, nth(turn, -1));
    expect(screen.getByText("Stopped by you")).toBeTruthy();
  });

  test.each([
    ["person", "cancelled", "Stopped by you"],
    ["person", "unknown", "Stopped by you; it may have happened"],
    ["deadline", "unknown", "Outcome unknown"],
    ["deadline", "cancelled", "Stopped"],
  ] as const)("d6 that %s stopped, left %s, says: %s", (by, state, words) => {
    const AT = { turn_id: "turn-1", conversation_id: "conv-1", at: "2026-11-15T14:00:00Z" };
    const outcome = by === "person" ? "stopped" : "failed";
    const turn = turnOf(
      [
        { ...AT, type: "turn_started", parent_turn_id: null, seq: 0, opening: [] },
        { ...AT, type: "model_replied", seq: 1, text: "", calls: [{ id: "call-1", name: "push" }] },
        { ...AT, type: "tool_started", seq: 2, call_id: "call-1" },
        { ...AT, type: "stop_requested", seq: 3, by, call_id: "" },
        { ...AT, type: "tool_finished", seq: 4, call_id: "call-1", state, cause: "stopped" },
        { ...AT, type: "turn_finished", seq: 5, outcome },
      ],
      "turn-1",
    );
    drawOpen(<CallRow call={nth(turn, 0)} turn={turn} open />);
    expect(screen.getByText(words).className).toBe("say");
    if (state === "unknown") expect(screen.queryByRole("button", { name: /Retry/ })).toBeNull();
  });

  test("d2 that was allowed for always leads to its line in Permissions", () => {
    const turn = turnOf("states", "turn-s3");
    const call = nth(turn, 0);
    if (!call.decided) throw new Error("not decided");
    const decided = { ...call.decided, scope: "always" as const, arguments: "", permission: "grant-1" };
    draw(turn, { ...call, decided });
    const link = screen.getByRole("link", { name: "always allowed" });
    expect(link.getAttribute("href")).toBe("/ui/permissions#grant-1");
  });

  test("says who allowed it, and that it was edited, and shows the edited arguments", () => {
    const turn = turnOf("states", "turn-s3");
    draw(turn, nth(turn, 0));
    expect(screen.getByText("allowed once, edited")).toBeTruthy();
    expect(screen.getByText(/all workers reconnect at once/)).toBeTruthy();
  });

  test("carries a tag when it was repaired, and when it gave the same result three times", () => {
    const first = turnOf("states", "turn-s1");
    draw(first, nth(first, 1));
    expect(screen.getByText("repaired")).toBeTruthy();
    const third = turnOf("states", "turn-s3");
    draw(third, nth(third, 3));
    expect(screen.getByText("3 times")).toBeTruthy();
  });

  test("shows its progress while it runs, and can be stopped", async () => {
    const sent = recordRequests();
    const turn = turnOf("pool-running", "turn-b");
    draw(turn, nth(turn, -1));
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("27");
    expect(screen.getByText("Restart 27: back after 1.9 s")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Stop this call" }));
    expect(sent.at(-1)).toMatchObject({ method: "POST", path: "/turns/turn-b/calls/call_turn-b_2_0/stop" });
  });

  test("says how far it is once, also when its message says the same", () => {
    const turn = turnOf("pool-running", "turn-b");
    const call = nth(turn, -1);
    if (!call.progress) throw new Error("no progress");
    draw(turn, { ...call, progress: { ...call.progress, progress: 3, total: 60, message: "3 of 60" } });
    expect(screen.getAllByText("3 of 60")).toHaveLength(1);
  });

  test("that is sent again after a restart says so", () => {
    const log = turnOf("unknown", "turn-i");
    const call = nth(log, -1);
    draw(log, { ...call, input: null });
    expect(screen.getByText("Trying again")).toBeTruthy();
    expect(screen.getByText(/stopped before it answered/)).toBeTruthy();
  });

  test("whose arguments are still written is one line, however many they are", async () => {
    const first = { index: 0, name: "files__write_file", arguments: '{"path": "docs/0.md"}' };
    const { container } = drawOpen(
      <DraftCalls calls={[first, { index: 1, name: "files__write_file", arguments: '{"pa' }]} />,
    );
    expect(container.querySelectorAll(".call-head")).toHaveLength(1);
    expect(screen.getByText("2 calls")).toBeTruthy();
    expect(screen.getByText('{"pa')).toBeTruthy();
    await userEvent.click(row());
    expect(screen.getByText('{"path": "docs/0.md"}')).toBeTruthy();
  });
});

describe("an open call", () => {
  test("shows result, arguments and raw text in turn", async () => {
    const turn = turnOf("states", "turn-s1");
    draw(turn, nth(turn, 1));
    await userEvent.click(row());
    expect(screen.getByText("runs:", { exact: false })).toBeTruthy();
    await userEvent.click(screen.getByRole("tab", { name: "Arguments" }));
    const box = screen.getByRole("group", { name: "Arguments" });
    expect(within(box).getByText("40")).toBeTruthy();
    await userEvent.click(screen.getByRole("tab", { name: "Raw" }));
    expect(screen.getByText("restart_benchmark(restarts=40")).toBeTruthy();
  });

  test("says how much of a long result the model saw", async () => {
    const turn = turnOf("states", "turn-s1");
    draw(turn, nth(turn, 0));
    await userEvent.click(row());
    expect(screen.getByText(/of 212\skB/)).toBeTruthy();
    expect(document.querySelector(".call-foot")?.textContent).toMatch(/^212\skB/);
    expect(screen.getByRole("button", { name: "Open in full" })).toBeTruthy();
  });

  test("that failed is open by itself and can be tried again in a new turn", async () => {
    const sent = recordRequests();
    const turn = turnOf("states", "turn-s2");
    draw(turn, nth(turn, 0));
    expect(screen.getByText("tracker answered 503 twice.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Retry this call" }));
    expect(sent.at(-1)?.path).toBe("/turns/turn-s2/calls/call_turn-s2_1_0/retry");
  });

  test("never shows a result as HTML", async () => {
    const turn = turnOf("quiet", "turn-f");
    const call = nth(turn, 0);
    const nasty = '<img src="https://evil.example/x" onerror="alert(1)">';
    const finished = call.finished && { ...call.finished, output: { ...call.finished.output, text: nasty } };
    const { container } = draw(turn, { ...call, finished });
    await userEvent.click(row());
    expect(container.querySelector("img")).toBeNull();
    expect(screen.getByText(nasty)).toBeTruthy();
  });
});
