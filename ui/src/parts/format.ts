/** Numbers and times as the page writes them: units after a no-break space, tabular digits elsewhere. */

const NBSP = "\u00a0";

// Made once: making one takes longer than all else that is done for a line of the page.
const NUMBER = new Intl.NumberFormat("en-GB");
const MINUTE = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const SECOND = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DAY_AND_YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short" });

/** A time that has ended: 4 ms, 0.04 s, 3.2 s, 41.8 s, 1:12. */
export function duration(ms: number): string {
  if (ms < 10) return `${Math.max(0, Math.round(ms))}${NBSP}ms`;
  if (ms < 100) return `${(ms / 1000).toFixed(2)}${NBSP}s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}${NBSP}s`;
  return minutes(ms);
}

/** A time that still counts: tenths to 10 s, then seconds, then m:ss. */
export function counting(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)}${NBSP}s`;
  if (ms < 60_000) return `${Math.floor(ms / 1000)}${NBSP}s`;
  return minutes(ms);
}

/** A wait: always m:ss, hours when it is long, days when it is very long. */
export function waited(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours < 1) return minutes(ms);
  return hours < 48 ? `${Math.floor(hours)}${NBSP}h` : `${Math.floor(hours / 24)} days`;
}

function minutes(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** 96, 4.2k, 128k, 1.2M. */
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  if (n < 100_000) return `${trimmed(n / 1000)}k`;
  if (n < 1_000_000) return `${Math.round(n / 1000)}k`;
  return `${trimmed(n / 1_000_000)}M`;
}

export function bytes(n: number): string {
  if (n < 1000) return `${n}${NBSP}B`;
  if (n < 1_000_000) return `${n < 10_000 ? trimmed(n / 1000) : Math.round(n / 1000)}${NBSP}kB`;
  return `${trimmed(n / 1_000_000)}${NBSP}MB`;
}

export function grouped(n: number): string {
  return NUMBER.format(n);
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

export function clockTime(at: number, seconds = false): string {
  return (seconds ? SECOND : MINUTE).format(at);
}

/** With its weekday and year. */
export function inFull(at: number): string {
  return FULL.format(at);
}

export type Day = "Today" | "Yesterday" | "Earlier";

export function dayOf(at: number, now: number): Day {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (at >= midnight) return "Today";
  return at >= new Date(midnight).setDate(new Date(midnight).getDate() - 1) ? "Yesterday" : "Earlier";
}

/** The hour for the last two days, the day before that. */
export function when(at: number, now: number): string {
  return dayOf(at, now) === "Earlier" ? dateOf(at, now) : clockTime(at);
}

/** The hour today, and the day with it before that. */
export function stamp(at: number, now: number): string {
  return dayOf(at, now) === "Today" ? clockTime(at) : `${dateOf(at, now)}, ${clockTime(at)}`;
}

/** The day alone: 16 Dec. */
export function dateIn(at: number): string {
  return DAY.format(at);
}

function dateOf(at: number, now: number): string {
  const thisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return (thisYear ? DAY : DAY_AND_YEAR).format(at);
}

/** `read_file` is "Read file". */
export function humanised(name: string): string {
  const words = name
    .replace(/[_-]+/g, " ")
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function hostOf(url: string): string {
  try {
    return new URL(url).host || new URL(url).protocol.replace(":", "");
  } catch {
    return url;
  }
}

function trimmed(n: number): string {
  return n.toFixed(1).replace(/\.0$/, "");
}
