/** One clock for every counting time on the page: four ticks a second, and only while someone counts. */

import { useSyncExternalStore } from "react";

const TICK_MS = 250;

let now = Date.now();
let skewMs = 0;
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

/** The server's time as near as the page knows it, in ms. Ticks only when `live`. */
export function useNow(live: boolean): number {
  return useSyncExternalStore(live ? watch : ignore, read);
}

export function setSkew(ms: number): void {
  skewMs = ms;
}

/** A moment of the server's clock by this one. */
export function toLocal(at: number): number {
  return at + skewMs;
}

export function serverNow(): number {
  return Date.now() - skewMs;
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    watchers.delete(changed);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function ignore(): () => void {
  return () => undefined;
}

function tick(): void {
  now = serverNow();
  watchers.forEach((changed) => changed());
}

function read(): number {
  if (!timer) now = Math.floor(serverNow() / TICK_MS) * TICK_MS;
  return now;
}
