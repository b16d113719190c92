import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { noteChatLink, noteLink, onBack } from "../app/link";
import { Resource } from "../app/resource";
import { clockTime } from "../parts";
import { LinkState } from "./LinkState";

const LOST = { state: "lost", tries: 1, nextTry: 0 } as const;

beforeEach(() => vi.useFakeTimers({ now: new Date(2026, 10, 18, 14, 2) }));
afterEach(() => vi.useRealTimers());

test.each([
  [404, "Connected"],
  [401, "Signed out"],
])("a refusal with %s is called %s", (status, words) => {
  render(<LinkState />);
  act(() => noteChatLink({ state: "refused", status, message: "no" }));
  expect(screen.getByText(words)).toBeTruthy();
});

test("a lost connection is dated from the first loss, also where another chat is opened meanwhile", () => {
  render(<LinkState />);
  act(() => noteLink({ state: "open" }));
  expect(screen.getByText("Connected")).toBeTruthy();
  act(() => noteLink(LOST));
  vi.setSystemTime(new Date(2026, 10, 18, 14, 9));
  act(() => {
    noteChatLink(null);
    noteChatLink({ state: "connecting" });
    noteChatLink(LOST);
  });
  expect(
    screen.getByText(`Disconnected since ${clockTime(new Date(2026, 10, 18, 14, 2).getTime())}`),
  ).toBeTruthy();
});

test("what could not be loaded is loaded again when the server is back", async () => {
  let answers = () => Promise.reject(new Error("Not connected."));
  const resource = new Resource<string>(() => answers());
  act(() => noteLink(LOST));
  await resource.refresh();
  expect(resource.read().error).toBe("Not connected.");
  answers = () => Promise.resolve("here") as Promise<never>;
  const back = vi.fn();
  const stop = onBack(back);
  act(() => noteLink({ state: "open" }));
  await vi.advanceTimersByTimeAsync(0);
  expect(resource.read()).toEqual({ value: "here", error: "", loading: false });
  act(() => noteLink({ state: "open" }));
  expect(back).toHaveBeenCalledTimes(1);
  stop();
});
