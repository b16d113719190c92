/** A thing fetched once and shared: every component that uses it sees the same value, and the refresh of any. */

import { useEffect, useSyncExternalStore } from "react";

import { errorText } from "../api";
import { onBack } from "./link";

export interface Loaded<T> {
  value: T | null;
  error: string;
  loading: boolean;
}

const FRESH_MS = 3000;
const failed = new Set<Resource<unknown>>();
onBack(() => failed.forEach((resource) => void resource.refresh()));

/** The value, loaded on first use. */
export function useResource<T>(resource: Resource<T>): Loaded<T> {
  useEffect(() => resource.need(), [resource]);
  return useSyncExternalStore(resource.watch, resource.read);
}

export class Resource<T> {
  #loaded: Loaded<T> = { value: null, error: "", loading: false };
  #asked = 0;
  #loadedAt = -Infinity;
  readonly #load: () => Promise<T>;
  readonly #watchers = new Set<() => void>();

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  async refresh(): Promise<void> {
    const turn = ++this.#asked;
    this.#set({ ...this.#loaded, loading: true });
    try {
      const value = await this.#load();
      if (turn !== this.#asked) return;
      this.#loadedAt = performance.now();
      this.#set({ value, error: "", loading: false });
    } catch (error) {
      if (turn === this.#asked) this.#set({ ...this.#loaded, error: errorText(error), loading: false });
    }
  }

  /** Show a change at once; the next refresh brings the truth. */
  change(change: (value: T) => T): void {
    if (this.#loaded.value !== null) this.#set({ ...this.#loaded, value: change(this.#loaded.value) });
  }

  get value(): T | null {
    return this.#loaded.value;
  }

  /** Load unless that was done, or is under way. */
  need(): void {
    if (this.#asked === 0) void this.refresh();
  }

  /** Load unless that is under way or was done a moment ago: for those who look from time to time. */
  freshen(): void {
    if (!this.#loaded.loading && performance.now() - this.#loadedAt > FRESH_MS) void this.refresh();
  }

  #set(loaded: Loaded<T>): void {
    this.#loaded = loaded;
    if (loaded.error) failed.add(this);
    else failed.delete(this);
    this.#watchers.forEach((changed) => changed());
  }

  readonly watch = (changed: () => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };

  readonly read = () => this.#loaded;
}
