/** What a test of a model found, in words a person can weigh. */

import type { Finding, ProviderTest } from "../../api";

export type Grade = "yes" | "no" | "failed" | "waiting" | "asking";

export interface Ability {
  words: string;
  grade: Grade;
  detail: string;
}

/** The questions in the order they are asked; the last is good when the answer is no. */
const QUESTIONS: [string, string][] = [
  ["answers", "Responds"],
  ["streams", "Streams its text"],
  ["calls a tool", "Calls one tool with the right arguments"],
  ["several calls at once", "Calls two tools at once"],
  ["honours required", "Honors required tool calls"],
  ["repeats call ids", "Gives each call its own id"],
];

const GOOD_WHEN_NO = new Set(["repeats call ids"]);

export function abilitiesOf(test: ProviderTest | null, busy: boolean): Ability[] {
  if (!test) return QUESTIONS.map(([, words]) => ({ words, grade: busy ? "asking" : "waiting", detail: "" }));
  const { findings } = test;
  if (findings.length === 0)
    return [{ words: "Responds", grade: test.ok ? "yes" : "failed", detail: test.ok ? test.message : "" }];
  return findings.map((finding) => ({
    words: questionText(finding.question),
    grade: gradeOf(finding),
    detail: finding.detail,
  }));
}

export function gradeLabel(grade: Grade): string {
  return { yes: "Yes", no: "No", failed: "Failed", waiting: "Not asked yet", asking: "Asking" }[grade];
}

function questionText(question: string): string {
  return QUESTIONS.find(([name]) => name === question)?.[1] ?? question;
}

function gradeOf({ question, answer }: Finding): Grade {
  if (answer === "failed" || !GOOD_WHEN_NO.has(question)) return answer;
  return answer === "no" ? "yes" : "no";
}
