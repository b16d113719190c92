/** What a person pastes where they say who they are: a token, a one-time link, or the digits from the terminal. */

import type { Credential } from "../api/session";

const DIGITS = /^\d[\d\s-]{2,10}\d$/;

/** Null for nothing. Quotes, spaces and `Bearer` come along with what is copied. Digits confirm, they do not sign in. */
export function credentialOf(typed: string, digits = false): Credential | null {
  const text = typed
    .trim()
    .replace(/^["'`]+|["'`]+$/g, "")
    .replace(/^bearer\s+/i, "")
    .trim();
  if (!text) return null;
  const key = /[?&]key=([^&#\s]+)/.exec(text)?.[1];
  if (key) return { key: decodeURIComponent(key) };
  return digits && DIGITS.test(text) ? { code: text.replace(/\D/g, "") } : { token: text };
}
