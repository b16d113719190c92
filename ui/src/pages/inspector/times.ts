/** A time that has ended, as the page writes it; below a hundredth of a second in milliseconds. */

import { duration } from "../../parts";

export function spanTime(ms: number): string {
  return ms < 10 ? `${Math.round(ms)}\u00a0ms` : duration(ms);
}
