/** Numbers and times in the reader's own locale: units after a no-break space, tabular digits elsewhere. */

const NBSP = "\u00a0";

/** Made once: making one takes longer than all else that is done for a line of the page. */
function formatsFor(locale: string | undefined) {
  const number = (options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options);
  const moment = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options);
  const day = { day: "numeric", month: "short" } as const;
  return {
    number: number(),
    twoDigits: number({ minimumIntegerDigits: 2 }),
    tenths: number({ minimumFractionDigits: 1, maximumFractionDigits: 1 }),
    hundredths: number({ minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    short: number({ maximumFractionDigits: 1 }),
    minute: moment({ timeStyle: "short" }),
    second: moment({ timeStyle: "medium" }),
    day: moment(day),
    dayAndYear: moment({ ...day, year: "numeric" }),
    full: moment({ dateStyle: "full", timeStyle: "short" }),
  };
}

let formats = formatsFor(globalThis.navigator.language);

/** Another locale than the browser's own, by its tag. */
export function setLocale(locale: string): void {
  formats = formatsFor(locale);
}

/** A time that has ended: 4 ms, 0.04 s, 3.2 s, 41.8 s, 1:12. */
export function duration(ms: number): string {
  if (ms < 10) return `${grouped(Math.max(0, Math.round(ms)))}${NBSP}ms`;
  if (ms < 100) return `${formats.hundredths.format(ms / 1000)}${NBSP}s`;
  if (ms < 59_950) return `${formats.tenths.format(ms / 1000)}${NBSP}s`;
  return minutes(ms);
}

/** A time that still counts: tenths to 10 s, then seconds, then m:ss. */
export function counting(ms: number): string {
  if (ms < 10_000) return `${formats.tenths.format(Math.floor(Math.max(0, ms) / 100) / 10)}${NBSP}s`;
  if (ms < 60_000) return `${grouped(Math.floor(ms / 1000))}${NBSP}s`;
  return minutes(ms);
}

/** A wait: always m:ss, hours when it is long, days when it is very long. */
export function waited(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours < 1) return minutes(ms);
  return hours < 48 ? `${grouped(Math.floor(hours))}${NBSP}h` : `${grouped(Math.floor(hours / 24))} days`;
}

/** Always m:ss. */
export function minutes(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${grouped(Math.floor(seconds / 60))}:${formats.twoDigits.format(seconds % 60)}`;
}

/** 96, 4.2k, 128k, 1.2M. */
export function tokens(n: number): string {
  if (n < 1000) return grouped(n);
  if (n < 100_000) return `${decimal(n / 1000)}k`;
  if (n < 1_000_000) return `${grouped(Math.round(n / 1000))}k`;
  return `${decimal(n / 1_000_000)}M`;
}

export function bytes(n: number): string {
  if (n < 1000) return `${grouped(n)}${NBSP}B`;
  if (n < 999_500) return `${n < 10_000 ? decimal(n / 1000) : grouped(Math.round(n / 1000))}${NBSP}kB`;
  return `${decimal(n / 1_000_000)}${NBSP}MB`;
}

/** The size of a text as it is sent and kept. */
export function sizeInBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

export function grouped(n: number): string {
  return formats.number.format(n);
}

/** With a tenth where there is one: 4.2, 12. */
export function decimal(n: number): string {
  return formats.short.format(n);
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

export function clockTime(at: number, seconds = false): string {
  return (seconds ? formats.second : formats.minute).format(at);
}

/** With its weekday and year. */
export function inFull(at: number): string {
  return formats.full.format(at);
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
  return formats.day.format(at);
}

function dateOf(at: number, now: number): string {
  const thisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return (thisYear ? formats.day : formats.dayAndYear).format(at);
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
