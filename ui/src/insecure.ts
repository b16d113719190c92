/** Over plain http, under any name but this machine's own, browsers leave out what the page needs to number messages
 * and to copy. Both are put back here. */

// `execCommand` is deprecated and the only way to copy where there is no clipboard.
type Copying = { execCommand(command: "copy"): boolean };

const HYPHENS_BEFORE = new Set([4, 6, 8, 10]);

export function randomId(): ReturnType<Crypto["randomUUID"]> {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes.set([((bytes[6] ?? 0) & 0x0f) | 0x40], 6); // the version of the form
  bytes.set([((bytes[8] ?? 0) & 0x3f) | 0x80], 8); // and its variant
  const hex = [...bytes].map(
    (byte, at) => (HYPHENS_BEFORE.has(at) ? "-" : "") + byte.toString(16).padStart(2, "0"),
  );
  return hex.join("") as ReturnType<Crypto["randomUUID"]>;
}

export function copyBySelection(text: string): Promise<void> {
  const box = document.createElement("textarea");
  box.value = text;
  (document.querySelector("[role=dialog]") ?? document.body).append(box); // an open dialog keeps the focus inside
  box.select();
  const copied = (document as Copying).execCommand("copy");
  box.remove();
  return copied ? Promise.resolve() : Promise.reject(new Error("The browser refused to copy."));
}

const partial = globalThis as { crypto: Partial<Crypto>; navigator: Partial<Navigator> };
partial.crypto.randomUUID ??= randomId;
if (!partial.navigator.clipboard)
  Object.defineProperty(navigator, "clipboard", {
    value: { writeText: copyBySelection },
    configurable: true,
  });
