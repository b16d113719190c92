/** Requests to the server that serves this page: every one goes through `send`, which adds the session's half. */

import { inBase } from "./base";
import { askToConfirm } from "./confirming";
import { hintForPage } from "./hints";
import type { ErrorCode, Failed } from "./schemas.generated";
import { half, noteStatus, sessionHeaders } from "./sessionState";
import { noteVersion } from "./version";

/** Codes the page can tell apart; one that it does not know is an error like any other. */
export type Code = ErrorCode | "confirm_required" | "http" | "offline";

export class ApiError extends Error {
  readonly status: number;
  readonly code: Code;
  readonly hint: string;
  readonly detail: unknown;

  constructor(status: number, code: Code, message: string, hint = "", detail: unknown = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.detail = detail;
  }

  /** Nobody answered at all: the server is down, or the network is. */
  get offline(): boolean {
    return this.status === 0;
  }
}

/** A body that is JSON already, sent letter for letter: numbers that the page cannot hold stay as they are. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await send(method, path, body);
  if (!response.ok) throw await errorOf(response);
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}

/** Where the server wants to know first that it is really this person, they are asked, and it is sent again. */
export async function send(
  method: string,
  path: string,
  body?: unknown,
  more: RequestInit = {},
): Promise<Response> {
  for (;;) {
    const response = await sendOnce(method, path, body, more);
    if (response.status !== 403 || (await codeOf(response)) !== "confirm_required") return response;
    if (!(await askToConfirm(method, path)))
      throw new ApiError(403, "confirm_required", "Not confirmed, so nothing was changed.");
  }
}

async function sendOnce(
  method: string,
  path: string,
  body: unknown,
  { headers, ...more }: RequestInit,
): Promise<Response> {
  const used = half();
  const response = await answerTo(path, {
    method,
    headers: {
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...sessionHeaders(),
      ...(headers as Record<string, string> | undefined),
    },
    ...(body !== undefined && { body: body instanceof JsonText ? body.text : JSON.stringify(body) }),
    ...more,
  });
  noteVersion(response);
  if (response.status !== 401 || IS_SESSION.test(path)) return response;
  // Another tab signed in anew meanwhile: the cookie was that session's already, the half was not.
  if (half() && half() !== used) return sendOnce(method, path, body, { headers: headers ?? {}, ...more });
  noteStatus(response.status);
  return response;
}

/** A token or key that does not fit says nothing about the session there is. */
const IS_SESSION = /^\/session(\/|$)/;

async function answerTo(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(inBase(path), init);
  } catch {
    throw new ApiError(0, "offline", `No answer from ${location.host}.`, "Is Windlass running there?");
  }
}

async function codeOf(response: Response): Promise<string> {
  const { error } = parsed(await response.clone().text());
  return error?.code ?? "";
}

export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  const { error } = parsed(text);
  return new ApiError(
    response.status,
    (error?.code ?? "http") as Code,
    error?.message ?? `${location.host} answered ${response.status}.`,
    hintForPage(error?.hint ?? ""),
    error?.detail,
  );
}

function parsed(text: string): Partial<Failed> {
  try {
    return JSON.parse(text) as Partial<Failed>;
  } catch {
    return {};
  }
}

export const get = <T>(path: string) => request<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}) => request<T>("POST", path, body);
export const patch = <T>(path: string, body: unknown) => request<T>("PATCH", path, body);
export const put = <T>(path: string, body: unknown) => request<T>("PUT", path, body);
export const remove = <T>(path: string) => request<T>("DELETE", path);

/** Words for a failure, for a line on the page. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) return [error.message, error.hint].filter(Boolean).join(" ");
  return error instanceof Error ? error.message : String(error);
}
