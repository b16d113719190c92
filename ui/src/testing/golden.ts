/** The golden logs, by name. */

import type { Event } from "../state";

const files = import.meta.glob<Event[]>("../state/golden/*.json", { eager: true, import: "default" });

export const GOLDEN = Object.fromEntries(
  Object.entries(files).map(([path, events]) => [path.replace(/.*\/(.*)\.json/, "$1"), events]),
);

export function golden(name: string): Event[] {
  const events = GOLDEN[name];
  if (!events) throw new Error(`no golden log ${name}`);
  return events;
}
