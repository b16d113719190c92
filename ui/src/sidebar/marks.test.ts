import { expect, test } from "vitest";

import type { ConversationInfo } from "../api";
import { isUnread, markOf, needsText, noteSeen, waitingIn } from "./marks";

const conversation = (more: Partial<ConversationInfo>) =>
  ({
    id: "conv-1",
    state: "finished",
    outcome: "answered",
    approvals: 0,
    unknowns: 0,
    questions: 0,
    updated_at: "2026-11-15T14:00:00Z",
    ...more,
  }) as ConversationInfo;

test.each([
  [{ state: "awaiting_person", unknowns: 1 }, "unknown"],
  [{ state: "awaiting_person", unknowns: 1, approvals: 2 }, "waiting"],
  [{ state: "awaiting_person", approvals: 2 }, "waiting"],
  [{ state: "awaiting_person", questions: 1 }, "waiting"],
  [{ outcome: "failed" }, "failed"],
  [{ state: "running" }, "running"],
  [{}, "time"],
] as const)("the most urgent mark wins: %j is %s", (fields, kind) => {
  expect(markOf(conversation(fields), false).kind).toBe(kind);
});

test("d5 a tool's question counts beside approvals and doubts", () => {
  const counts = { approvals: 1, unknowns: 1, questions: 2 };
  expect(waitingIn(conversation({ state: "awaiting_person", ...counts }))).toBe(4);
});

test.each([
  [{ approvals: 3 }, "3 need approval"],
  [{ questions: 1 }, "Has a question"],
  [{ approvals: 1, questions: 1, unknowns: 1 }, "1 needs approval, has a question, 1 outcome unknown"],
  [{ waiting: { for: "sign_in", since: "" } }, "Needs you to sign in"],
] as [Partial<ConversationInfo>, string][])("the mark is text too: %j is %s", (fields, words) => {
  expect(needsText(conversation(fields))).toBe(words);
  expect(waitingIn(conversation(fields))).toBeGreaterThan(0);
});

test("an answer is unread until its conversation was open", () => {
  noteSeen(conversation({ id: "conv-0" }));
  const later = conversation({ updated_at: "2099-01-01T00:00:00Z" });
  expect(isUnread(later)).toBe(true);
  noteSeen(later);
  expect(isUnread(later)).toBe(false);
});

test("nothing is unread on the first visit", () => {
  expect(isUnread(conversation({}))).toBe(false);
});
