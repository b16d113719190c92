/** Files for the person's disk or another tab. Browsers send no headers there, so these go by a blob, or by an address
 * that is good for one GET within a minute. */

import { errorOf, post, send } from "./http";

const LARGE = 8_000_000;
const KEPT_MS = 60_000;

/** A large one goes from the server straight to the disk. */
export async function saveFile(path: string, name: string): Promise<void> {
  const closing = new AbortController();
  const response = await send("GET", path, undefined, { signal: closing.signal });
  if (!response.ok) throw await errorOf(response);
  if (Number(response.headers.get("Content-Length")) > LARGE) {
    closing.abort();
    follow(await linkTo(path), name);
    return;
  }
  saveBlob(await response.blob(), name);
}

/** What the page holds already. As plain text, so that no browser opens it as a page. */
export function saveText(text: string, name: string): void {
  saveBlob(new Blob([text], { type: "text/plain" }), name);
}

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  follow(url, name);
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

/** The tab is opened with the click itself: later, a browser takes it for an unwanted one. */
export async function openInTab(path: string): Promise<void> {
  const tab = window.open("about:blank", "_blank");
  try {
    const url = await linkTo(path);
    if (tab) {
      tab.opener = null;
      tab.location.replace(url);
    } else follow(url, "");
  } catch (error) {
    tab?.close();
    throw error;
  }
}

async function linkTo(path: string): Promise<string> {
  return (await post<{ url: string }>("/links", { path })).url;
}

function follow(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  if (name) link.download = name;
  link.click();
}
