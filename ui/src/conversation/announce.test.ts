import { expect, test } from "vitest";

import { isDurable, replay } from "../state";
import { scene } from "../testing/scenes";
import { spoken } from "./announce";
import { namingFrom } from "./toolbox";

/** What is said over a whole log when the events come in the batches the server writes them in: by moment. */
function announcedOver(log: string): string[] {
  const events = scene(log).filter(isDurable);
  const moments = [...new Set(events.map((event) => event.at))];
  return moments.flatMap((moment) => {
    const batch = events.filter((event) => event.at === moment);
    const state = replay(events.filter((event) => event.at <= moment));
    return spoken(batch, state, namingFrom([]));
  });
}

test("parallel calls are summed, single ones named, and the answer told with its sources", () => {
  const announced = announcedOver("pool-done").slice(-6);
  expect(announced).toEqual([
    "Answer complete, 2 sources",
    "4 tools running",
    "3 done, 1 failed",
    "Restart benchmark needs your approval",
    "Running Restart benchmark",
    "Answer complete, 13 sources",
  ]);
});

test("a stop is told once", () => {
  expect(announcedOver("states").filter((words) => words === "Stopped")).toHaveLength(1);
});
