/** Whether the server still knows this browser. Any answer of 401 says that it does not. */

let out = false;
const watchers = new Set<() => void>();

export function noteStatus(status: number): void {
  if (status !== 401 || out) return;
  out = true;
  watchers.forEach((changed) => changed());
}

export const signedOut = (): boolean => out;

export function onSignedOut(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}
