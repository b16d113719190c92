import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { replay, type Event } from "../state";
import { golden } from "../testing/golden";
import { Strips } from "./Strips";

const choice = { persona: "", provider: "", model: "" };

function draw(driver: string): void {
  const turn = replay(golden("approval")).turns.get("turn-n");
  const claim: Event = {
    type: "turn_claimed",
    turn_id: "turn-n",
    seq: (turn?.lastSeq ?? 0) + 1,
    at: new Date(2026, 10, 15, 14, 2).toISOString(),
    driver,
  };
  const last = replay([...golden("approval"), claim]).turns.get("turn-n");
  render(<Strips choice={choice} last={last} />);
}

test("a turn taken up by another program says so, and how many calls wait", () => {
  draw("two");
  expect(screen.getByText(/Windlass restarted at 14:02/).textContent).toBe(
    "Windlass restarted at 14:02. This turn picked up where it stopped; 2 calls need your word.",
  );
});

test("a turn that the same program goes on with says nothing", () => {
  draw("one");
  expect(screen.queryByText(/restarted/)).toBeNull();
});
