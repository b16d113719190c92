/** A server for component tests: answers by "METHOD /path", and remembers what it was asked. */

import { vi } from "vitest";

export interface Asked {
  method: string;
  path: string;
  body: unknown;
  /** The body letter for letter: what was read of it has its numbers rounded. */
  text: string;
}

export type Answers = Record<string, unknown>;

export class Refusal {
  readonly status: number;
  readonly error: object;

  constructor(status: number, error: object) {
    this.status = status;
    this.error = error;
  }
}

/** The longest key that begins the request wins; a function is asked with the request. */
export function serve(answers: Answers): Asked[] {
  const asked: Asked[] = [];
  vi.stubGlobal("fetch", (input: string, init: RequestInit = {}) => {
    const method = init.method ?? "GET";
    const text = typeof init.body === "string" ? init.body : "";
    const body: unknown = text ? JSON.parse(text) : undefined;
    const request = { method, path: input, body, text };
    asked.push(request);
    return Promise.resolve(responseTo(request, answers));
  });
  return asked;
}

function responseTo(request: Asked, answers: Answers): Response {
  const line = `${request.method} ${request.path}`;
  const key = Object.keys(answers)
    .filter((start) => line.startsWith(start))
    .toSorted((a, b) => b.length - a.length)[0];
  const found =
    key === undefined ? new Refusal(404, { code: "not_found", message: `No ${line}.` }) : answers[key];
  const answer: unknown = typeof found === "function" ? (found as (asked: Asked) => unknown)(request) : found;
  if (answer instanceof Refusal)
    return Response.json({ success: false, error: answer.error }, { status: answer.status });
  return Response.json({ success: true, ...(answer as object) });
}
