/** Requests to the server that serves this page. The session cookie goes along by itself. */

import { inBase } from "./base";
import { hintForPage } from "./hints";
import type { ErrorCode, Failed } from "./schemas.generated";
import { noteStatus } from "./session";
import { noteVersion } from "./version";

/** Codes the page can tell apart; one that it does not know is an error like any other. */
export type Code = ErrorCode | "http" | "offline";

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

export async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await send(method, path, body);
  if (!response.ok) throw await errorOf(response);
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}

export async function send(
  method: string,
  path: string,
  body?: unknown,
  more: RequestInit = {},
): Promise<Response> {
  try {
    const response = await fetch(inBase(path), {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...more,
    });
    noteVersion(response);
    return response;
  } catch {
    throw new ApiError(0, "offline", "Not connected.", "Is Windlass running?");
  }
}

export async function errorOf(response: Response): Promise<ApiError> {
  noteStatus(response.status);
  const text = await response.text().catch(() => "");
  const { error } = parsed(text);
  return new ApiError(
    response.status,
    (error?.code ?? "http") as Code,
    error?.message ?? `The server answered ${response.status}.`,
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
