/** Verbs that the server wants confirmed wait here for the one dialog that asks for it (app/ConfirmDialog). */

interface Question {
  /** What goes on once it is confirmed: "make an access token". */
  what: string;
  promise: Promise<boolean>;
  settle: (confirmed: boolean) => void;
}

let waiting: Question | null = null;
const watchers = new Set<() => void>();

/** Whether the person confirmed. Several verbs at once share one question. */
export function askToConfirm(method: string, path: string): Promise<boolean> {
  if (!waiting) {
    let settle: (confirmed: boolean) => void = () => undefined;
    const promise = new Promise<boolean>((resolve) => (settle = resolve));
    waiting = { what: actionOf(method, path), promise, settle };
    watchers.forEach((changed) => changed());
  }
  return waiting.promise;
}

export function settleConfirming(confirmed: boolean): void {
  waiting?.settle(confirmed);
  waiting = null;
  watchers.forEach((changed) => changed());
}

/** What is to be confirmed; "" when nothing is. */
export const confirming = (): string => waiting?.what ?? "";

export function watchConfirming(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

/** Every verb that the server may want confirmed, as a person would say it. */
const ACTIONS: readonly (readonly [RegExp, string])[] = [
  [/^POST \/servers\/[^/]+\/confirm$/, "start a program on this computer"],
  [/^POST \/servers$/, "add this server"],
  [/^PUT \/servers\/[^/]+\/tools\//, "change how this tool is treated"],
  [/^PATCH \/servers\//, "change this server"],
  [/^PATCH \/providers\//, "change this provider"],
  [/^POST \/turns\/.+\/decision$/, "allow this from now on"],
  [/^PUT \/policy$/, "change the rules"],
  [/^DELETE \/permissions\//, "revoke this permission"],
  [/^POST \/session\/keys$/, "make a sign-in link"],
  [/^POST \/tokens$/, "make an access token"],
  [/^POST \/token\/rotate$/, "replace the access token"],
];

export function actionOf(method: string, path: string): string {
  const line = `${method} ${path.replace(/\?.*/, "")}`;
  return ACTIONS.find(([shape]) => shape.test(line))?.[1] ?? "go on";
}
