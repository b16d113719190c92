import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { ConversationInfo } from "../api";
import { AskToNotify } from "./AskToNotify";
import { markAllRead, told, unread } from "./center";
import { newsBetween } from "./news";
import { setWay } from "./preferences";
import { tell } from "./tell";

const START = Date.parse("2026-11-18T12:00:00Z");

const chat = (more: Partial<ConversationInfo>) =>
  ({
    id: "conv-1",
    title: "Draft notes",
    head_turn_id: "turn-1",
    state: "running",
    outcome: null,
    approvals: 0,
    unknowns: 0,
    questions: 0,
    waiting: null,
    updated_at: new Date(START).toISOString(),
    ...more,
  }) as ConversationInfo;

const between = (before: Partial<ConversationInfo>, after: Partial<ConversationInfo>, seconds = 5) =>
  newsBetween([chat(before)], [chat(after)], START + seconds * 1000).map(
    ({ kind, text }) => `${kind}: ${text}`,
  );

const shown: { title: string; body: string }[] = [];

/** The browser's own, as far as the page uses it. */
class FakeNotification {
  static permission = "granted";
  static requestPermission = vi.fn(() => Promise.resolve("granted"));
  onclick: (() => void) | null = null;

  constructor(title: string, { body }: { body: string }) {
    shown.push({ title, body });
  }
}

beforeEach(() => {
  localStorage.clear();
  shown.length = 0;
  FakeNotification.permission = "granted";
  vi.stubGlobal("Notification", FakeNotification);
  vi.stubGlobal("isSecureContext", true);
});
afterEach(() => vi.useRealTimers());

test("any question to a person is news, once, and again with the next one", () => {
  const asks = { state: "awaiting_person", approvals: 1 } as const;
  expect(between({}, asks)).toEqual(["needs: 1 needs approval."]);
  expect(between(asks, { ...asks, title: "Renamed" })).toEqual([]);
  expect(between(asks, { ...asks, approvals: 2 })).toEqual(["needs: 2 need approval."]);
  expect(between({}, { state: "awaiting_person", questions: 1 })).toEqual(["needs: Has a question."]);
  expect(between({}, { waiting: { for: "sign_in", since: "" } })).toEqual(["needs: Needs you to sign in."]);
});

test("the end of a turn is news where it took long or failed", () => {
  const done = { state: "finished", outcome: "answered" } as const;
  expect(between({}, done, 29)).toEqual([]);
  expect(between({}, done, 72)).toEqual(["finished: Done after 1:12."]);
  expect(between({}, { ...done, outcome: "stopped" }, 72)).toEqual([]);
  expect(between({}, { ...done, outcome: "failed" })).toEqual(["failed: Failed."]);
  expect(between(done, { ...done, title: "Renamed" }, 72)).toEqual([]);
});

const NEWS = {
  key: "needs turn-1 c1",
  kind: "needs",
  conversationId: "conv-1",
  title: "Draft notes",
  text: "Has a question.",
} as const;

test("the same news is told once, whichever window is first, and counts until it is read", async () => {
  await Promise.all([tell(NEWS), tell(NEWS)]);
  expect(shown).toEqual([{ title: "Draft notes", body: "Has a question." }]);
  expect(unread(told())).toBe(1);
  markAllRead();
  expect(unread(told())).toBe(0);
});

test("nothing is told of the chat that a person looks at, and nothing in a way that is switched off", async () => {
  localStorage.setItem("windlass.looking", "conv-1");
  await tell(NEWS);
  expect([shown.length, unread(told())]).toEqual([0, 0]);
  localStorage.removeItem("windlass.looking");
  setWay("needs", "desktop", false);
  await tell({ ...NEWS, key: "needs turn-1 c2" });
  expect([shown.length, unread(told())]).toEqual([0, 1]);
  setWay("needs", "page", false);
  setWay("needs", "desktop", true);
  await tell({ ...NEWS, key: "needs turn-1 c3" });
  expect([shown.length, unread(told())]).toEqual([1, 1]);
});

test("the page asks once, after 30 s of a turn, and never after an answer", () => {
  vi.useFakeTimers({ now: START });
  FakeNotification.permission = "default";
  render(<AskToNotify startedAt={START} />);
  const pass = (ms: number) =>
    act(() => {
      vi.advanceTimersByTime(ms);
    });
  pass(29_000);
  expect(screen.queryByText(/Tell you when/)).toBeNull();
  pass(1500);
  expect(screen.getByText("Tell you when this finishes or needs you?")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Not now" }));
  pass(60_000);
  expect(screen.queryByText(/Tell you when/)).toBeNull();
  expect(FakeNotification.requestPermission).not.toHaveBeenCalled();
});
