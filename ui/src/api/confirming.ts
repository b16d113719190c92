/** Verbs that the server wants confirmed wait here for the one dialog that asks for it (app/ConfirmDialog). */

let waiting: { promise: Promise<boolean>; settle: (confirmed: boolean) => void } | null = null;
const watchers = new Set<() => void>();

/** Whether the person confirmed. Several verbs at once share one question. */
export function askToConfirm(): Promise<boolean> {
  if (!waiting) {
    let settle: (confirmed: boolean) => void = () => undefined;
    const promise = new Promise<boolean>((resolve) => (settle = resolve));
    waiting = { promise, settle };
    watchers.forEach((changed) => changed());
  }
  return waiting.promise;
}

export function settleConfirming(confirmed: boolean): void {
  waiting?.settle(confirmed);
  waiting = null;
  watchers.forEach((changed) => changed());
}

export const isConfirming = (): boolean => waiting !== null;

export function watchConfirming(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}
