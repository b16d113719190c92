/** A thing fetched once and shared: every component that uses it sees the same value, and the refresh of any. */

import { useEffect, useSyncExternalStore } from "react";

import { errorText } from "../api";

export interface Loaded<T> {
  value: T | null;
  error: string;
  loading: boolean;
}

/** The value, loaded on first use. */
export function useResource<T>(resource: Resource<T>): Loaded<T> {
  useEffect(() => resource.need(), [resource]);
  return useSyncExternalStore(resource.watch, resource.read);
}

export class Resource<T> {
  #loaded: Loaded<T> = { value: null, error: "", loading: false };
  #asked = 0;
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
      if (turn === this.#asked) this.#set({ value, error: "", loading: false });
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

  /** Load again what could not be loaded: the server is back. */
  mend(): void {
    if (this.#loaded.error) void this.refresh();
  }

  #set(loaded: Loaded<T>): void {
    this.#loaded = loaded;
    this.#watchers.forEach((changed) => changed());
  }

  readonly watch = (changed: () => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };

  readonly read = () => this.#loaded;
}
