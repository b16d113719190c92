/** Scenes for tests that draw, made by `node dev/scenes.mjs`: longer and richer than the recorded logs. */

import type { Event } from "../state";

const files = import.meta.glob<Event[]>("./scenes/*.json", { eager: true, import: "default" });

export const SCENES = Object.fromEntries(
  Object.entries(files).map(([path, events]) => [path.replace(/.*\/(.*)\.json/, "$1"), events]),
);

export function scene(name: string): Event[] {
  const events = SCENES[name];
  if (!events) throw new Error(`no scene ${name}`);
  return events;
}
