import { act, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import { get } from "../api";
import { replay, type Event } from "../state";
import { scene } from "../testing/scenes";
import { Strips, Updated } from "./Strips";

const choice = { persona: "", provider: "", model: "" };

function draw(driver: string): void {
  const turn = replay(scene("approval")).turns.get("turn-n");
  const claim: Event = {
    type: "turn_claimed",
    turn_id: "turn-n",
    conversation_id: "conv-notes",
    seq: (turn?.lastSeq ?? 0) + 1,
    at: new Date(2026, 10, 15, 14, 2).toISOString(),
    driver,
  };
  const last = replay([...scene("approval"), claim]).turns.get("turn-n");
  render(<Strips choice={choice} last={last} />);
}

test("a turn taken up by another program says so, and how many calls wait", () => {
  draw("two");
  expect(screen.getByText(/Windlass restarted at 2:02\sPM/).textContent.replaceAll(/\s/g, " ")).toBe(
    "Windlass restarted at 2:02 PM. This turn picked up where it stopped; 2 calls need your approval.",
  );
});

test("a turn that the same program goes on with says nothing", () => {
  draw("one");
  expect(screen.queryByText(/restarted/)).toBeNull();
});

test("a page whose server was updated under it asks to be loaded again", async () => {
  const answer = (version: string) =>
    vi.stubGlobal("fetch", () =>
      Promise.resolve(Response.json({}, { headers: { "X-Windlass-Version": version } })),
    );
  render(<Updated />);
  for (const version of ["0.1.0", "0.1.0"]) {
    answer(version);
    await act(() => get("/health"));
    expect(screen.queryByRole("button", { name: "Reload" })).toBeNull();
  }
  answer("0.2.0");
  await act(() => get("/health"));
  expect(screen.getByText(/updated to 0.2.0/)).toBeTruthy();
  expect(screen.getByRole("button", { name: "Reload" })).toBeTruthy();
});
