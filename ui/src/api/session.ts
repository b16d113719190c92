/** Signing in and out. Nothing else is asked of the server before `openSession` has found out who this is. */

import { ApiError, errorText, get, post, remove } from "./http";
import type * as api from "./schemas.generated";
import {
  SIGNED_OUT,
  currentSession,
  half,
  keepHalf,
  onOtherTab,
  setSession,
  type Session,
} from "./sessionState";

export type Credential = { token: string } | { key: string } | { code: string };

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const USED_KEY = "This link was used already, or is too old. `windlass token --url` prints a new one.";

/**
 * Find out who this is, by the key of a one-time link if the address has one. A key is used even where somebody is
 * signed in already: it may be another person's, or confirm this one anew. One that does not fit changes nothing.
 */
export async function openSession(): Promise<void> {
  onOtherTab(() => void followOtherTab());
  const key = takeKey();
  try {
    if (key && (await entersBy(key))) return;
    await answered(refreshSession);
    if (key) refuse(USED_KEY);
  } catch (error) {
    refuse(errorText(error));
  }
}

export async function signIn(credential: Credential): Promise<void> {
  const { half: own } = await post<api.SessionOpened>("/session", credential);
  keepHalf(own);
  await refreshSession();
}

export async function signOut(): Promise<void> {
  await remove("/session").catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error; // it had ended already
  });
  keepHalf("");
  setSession(SIGNED_OUT);
}

/** Say once more who this is, for what must not happen by a stolen moment. */
export async function confirmSession(credential: Credential): Promise<void> {
  await post("/session/confirm", credential);
  await refreshSession();
}

export async function refreshSession(): Promise<void> {
  const before = currentSession();
  const found = sessionOf(await get<api.SessionState>("/session"));
  wasIn ||= before?.signedIn ?? false;
  if (wasIn && found.signedIn && !before?.signedIn)
    location.reload(); // what is held here may be somebody else's
  else setSession(found);
}

let wasIn = false;

/** The key out of the address bar and the history; the rest of the address stays. */
function takeKey(): string {
  const url = new URL(location.href);
  const key = url.searchParams.get("key") ?? "";
  if (!key) return "";
  url.searchParams.delete("key");
  history.replaceState(null, "", url.pathname + url.search + url.hash);
  return key;
}

async function entersBy(key: string): Promise<boolean> {
  try {
    await answered(() => signIn({ key }));
    return true;
  } catch {
    return false;
  }
}

/** Ask until somebody answers: a page may be opened while its server starts. */
async function answered(ask: () => Promise<void>): Promise<void> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
    try {
      await ask();
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || !(error.offline || error.status >= 500)) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

function refuse(problem: string): void {
  const session = currentSession() ?? SIGNED_OUT;
  if (!session.signedIn) setSession({ ...session, problem });
}

/** What one tab does holds for all: they share the half. */
async function followOtherTab(): Promise<void> {
  if (!half() && currentSession()?.auth) setSession(SIGNED_OUT);
  else await refreshSession().catch(() => undefined);
}

function sessionOf(answer: api.SessionState): Session {
  return {
    signedIn: answer.signed_in || !answer.auth,
    auth: answer.auth,
    name: answer.name ?? "",
    scopes: answer.scopes,
    confirmedUntil: answer.confirmed_until ? Date.parse(answer.confirmed_until) : 0,
    problem: "",
  };
}
