/** Which version answers. A page that is left open over an update is older than its server, and should be loaded anew. */

let first = "";
let current = "";
const watchers = new Set<() => void>();

export function noteVersion(response: Response): void {
  const version = response.headers.get("X-Windlass-Version");
  if (!version || version === current) return;
  first ||= version;
  current = version;
  watchers.forEach((changed) => changed());
}

/** The version that answers now, if it is not the one that this page began with. */
export const otherVersion = (): string => (current === first ? "" : current);

export function onVersion(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}
