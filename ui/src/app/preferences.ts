/** What a person prefers on this device. Kept in its storage; every tab of the page follows a change. */

import { useCallback, useSyncExternalStore } from "react";

/** What holds until a person chooses otherwise. */
const DEFAULTS = {
  /** `A` allows, `D` denies and so on, while a card has the focus. */
  singleKeys: true,
};

export type Preferences = typeof DEFAULTS;
export type PreferenceName = keyof Preferences;

const CHANGED = "windlass:preference";

/** The value and its setter, as `useState` gives them. */
export function usePreference(name: PreferenceName): [boolean, (on: boolean) => void] {
  const value = useSyncExternalStore(watch, () => preference(name));
  const set = useCallback((on: boolean) => setPreference(name, on), [name]);
  return [value, set];
}

export function preference(name: PreferenceName): boolean {
  const kept = localStorage.getItem(keyOf(name));
  return kept === null ? DEFAULTS[name] : kept === "on";
}

export function setPreference(name: PreferenceName, on: boolean): void {
  localStorage.setItem(keyOf(name), on ? "on" : "off");
  dispatchEvent(new Event(CHANGED));
}

function keyOf(name: PreferenceName): string {
  return `windlass.${name}`;
}

/** The browser tells the other tabs of a change with `storage`. */
function watch(changed: () => void): () => void {
  addEventListener(CHANGED, changed);
  addEventListener("storage", changed);
  return () => {
    removeEventListener(CHANGED, changed);
    removeEventListener("storage", changed);
  };
}
