/**
 * The session's second half: kept by this origin, sent with every request. Until signing in has a module of its own,
 * it is added where all requests pass.
 */

import { base, inBase } from "./api/base";

const KEY = "windlass.session" + base; // two servers may share an origin
const plain = window.fetch.bind(window);
const opened = openWithKey();

window.fetch = async (input, init = {}) => {
  await opened;
  const headers = new Headers(init.headers);
  headers.set("x-windlass-session", localStorage.getItem(KEY) ?? "");
  const response = await plain(input, { ...init, headers });
  if (input === inBase("/session") && init.method === "POST") await keep(response);
  return response;
};

/** A login link's key is traded for a session before anything else is asked for. */
async function openWithKey(): Promise<void> {
  const url = new URL(location.href);
  const key = url.searchParams.get("key");
  if (key === null) return;
  url.searchParams.delete("key");
  history.replaceState(null, "", url.pathname + url.search);
  const headers = { "Content-Type": "application/json" };
  await keep(await plain(inBase("/session"), { method: "POST", headers, body: JSON.stringify({ key }) }));
}

async function keep(response: Response): Promise<void> {
  if (!response.ok) return;
  const { half } = (await response.clone().json()) as { half: string };
  localStorage.setItem(KEY, half);
}
