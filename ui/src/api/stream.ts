/**
 * The one stream of the page: of the list of chats, and of the open one. Over fetch rather than EventSource, so that a 401 is told from a lost
 * connection, and a silent connection is noticed.
 */

import { createParser, type EventSourceMessage } from "eventsource-parser";

import { decode, type Event } from "../state";
import { errorOf, send } from "./http";
import type { Conversation } from "./schemas.generated";

export type Link =
  | { state: "connecting" }
  | { state: "open" }
  | { state: "lost"; tries: number; nextTry: number }
  | { state: "refused"; status: number; message: string };

/** A row of the list as it is now; null once the chat is deleted. */
export interface ConversationChange {
  id: string;
  conversation: Conversation | null;
}

export interface Listener {
  /** Called once for each chunk of the stream, with all events in it. */
  events: (events: Event[]) => void;
  link: (link: Link) => void;
  /** The list of chats changed; what changed while no stream was open must be read from the list. */
  changed?: (change: ConversationChange) => void;
  /** Milliseconds by which this clock is ahead of the server's. */
  skew: (ms: number) => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const SILENCE_MS = 45_000;
const SKEW_WORTH_MENTIONING_MS = 2000;

export class Stream {
  #lastId = "";
  #tries = 0;
  #closed = false;
  #abort = new AbortController();
  #wake: (() => void) | null = null;
  readonly #url: string;
  readonly #listener: Listener;

  constructor(url: string, listener: Listener) {
    this.#url = url;
    this.#listener = listener;
    void this.#run();
  }

  tryNow(): void {
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#abort.abort();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed()) {
      const refused = await this.#listen();
      if (refused || this.#isClosed()) return;
      this.#tries += 1;
      await this.#pause(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#tries - 1)));
    }
  }

  #isClosed(): boolean {
    return this.#closed;
  }

  /** One connection, from open to lost. True when the server does not want this page. */
  async #listen(): Promise<boolean> {
    if (this.#tries === 0) this.#listener.link({ state: "connecting" });
    this.#abort = new AbortController();
    try {
      const response = await send("GET", this.#url, undefined, {
        headers: { Accept: "text/event-stream", ...(this.#lastId && { "Last-Event-ID": this.#lastId }) },
        signal: this.#abort.signal,
      });
      if (!response.ok) return await this.#refuse(response);
      this.#noteSkew(response);
      this.#tries = 0;
      this.#listener.link({ state: "open" });
      await this.#read(response);
    } catch {
      // A lost connection; the caller tries again.
    }
    return false;
  }

  async #refuse(response: Response): Promise<boolean> {
    if (response.status >= 500 || response.status === 429) return false;
    const { status, message } = await errorOf(response);
    this.#listener.link({ state: "refused", status, message });
    return true;
  }

  async #read(response: Response): Promise<void> {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => messages.push(message) });
    if (!reader) return;
    for (;;) {
      const silence = setTimeout(() => this.#abort.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done || this.#isClosed()) return;
      parser.feed(value);
      const events = messages.splice(0).flatMap((message) => this.#eventOf(message) ?? []);
      if (events.length > 0) this.#listener.events(events);
    }
  }

  #eventOf({ id, event = "message", data }: EventSourceMessage): Event | null {
    if (id) this.#lastId = id;
    try {
      const parsed: unknown = JSON.parse(data);
      if (event === "conversation_changed") this.#listener.changed?.(parsed as ConversationChange);
      return decode(event, parsed, Date.now());
    } catch {
      return null;
    }
  }

  #noteSkew(response: Response): void {
    const skew = Date.now() - Date.parse(response.headers.get("Date") ?? "");
    this.#listener.skew(Math.abs(skew) > SKEW_WORTH_MENTIONING_MS ? skew : 0);
  }

  #pause(ms: number): Promise<void> {
    this.#listener.link({ state: "lost", tries: this.#tries, nextTry: Date.now() + ms });
    const over = new AbortController();
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      for (const event of ["online", "focus"]) addEventListener(event, this.#wake, { signal: over.signal });
    }).finally(() => over.abort());
  }
}
