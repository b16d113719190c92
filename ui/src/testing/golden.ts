/** The golden logs, by name: recorded from a real server by `make golden`, each with what the server says of it. */

import type { Event } from "../state";
import type { Story } from "./story";

interface Golden {
  events: Event[];
  story: Story[];
}

const files = import.meta.glob<Golden>("../state/golden/*.json", { eager: true, import: "default" });

export const GOLDEN = Object.fromEntries(
  Object.entries(files).map(([path, log]) => [path.replace(/.*\/(.*)\.json/, "$1"), log]),
);
