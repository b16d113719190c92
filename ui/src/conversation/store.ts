/** One open conversation: its stream, its state, and who watches. Words are drawn at most once a frame. */

import { Stream, type Link } from "../api";
import { setSkew } from "../parts/clock";
import { EMPTY, applyAll, isDurable, type Conversation, type DurableEvent, type Event } from "../state";

const HIDDEN_FLUSH_MS = 100; // a hidden tab gets no frames, but its title and marks must stay true

const PAUSE_MS = 20;
const LONGEST_GATHERING_MS = 500;

export class ConversationStore {
  readonly id: string;
  #state = EMPTY;
  #link: Link = { state: "connecting" };
  #wasLost = false;
  #pending: Event[] = [];
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #firstAt = 0;
  #stream: Stream | null = null;
  readonly #watchers = new Set<() => void>();
  readonly #hearers = new Set<(events: DurableEvent[], state: Conversation) => void>();

  constructor(id: string) {
    this.id = id;
  }

  /** Begin to listen; what comes back ends it. What is known is kept, so it can be opened again. */
  open(): () => void {
    const stream = new Stream(`/conversations/${encodeURIComponent(this.id)}/events`, {
      events: (events) => this.#take(events),
      link: (link) => this.#setLink(link),
      skew: setSkew,
    });
    this.#stream = stream;
    return () => {
      stream.close();
      this.#cancel();
    };
  }

  readonly watch = (changed: () => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };

  readonly state = () => this.#state;
  readonly link = () => this.#link;

  /** Whether the connection was lost since the page was opened. */
  get wasLost(): boolean {
    return this.#wasLost;
  }

  /** Called with the durable events of each batch, after they are in the state. */
  hear(hearer: (events: DurableEvent[], state: Conversation) => void): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  /** What this page did itself, shown at once. */
  put(event: Event): void {
    this.#pending.push(event);
    this.#flush();
  }

  tryNow(): void {
    this.#stream?.tryNow();
  }

  #take(events: Event[]): void {
    this.#pending.push(...events);
    if (this.#state === EMPTY) {
      this.#takeHistory();
      return;
    }
    if (this.#frame || this.#timer) return;
    this.#frame = requestAnimationFrame(() => this.#flush());
    this.#timer = setTimeout(() => this.#flush(), HIDDEN_FLUSH_MS);
  }

  /** A long history comes in many chunks; it is drawn once, when they pause. */
  #takeHistory(): void {
    this.#firstAt ||= performance.now();
    clearTimeout(this.#timer);
    const waited = performance.now() - this.#firstAt;
    this.#timer = setTimeout(() => this.#flush(), waited > LONGEST_GATHERING_MS ? 0 : PAUSE_MS);
  }

  #flush(): void {
    this.#cancel();
    const events = this.#pending;
    this.#pending = [];
    const next = applyAll(this.#state, events);
    if (next === this.#state) return;
    this.#state = next;
    this.#watchers.forEach((changed) => changed());
    const durable = events.filter(isDurable);
    if (durable.length > 0) this.#hearers.forEach((hearer) => hearer(durable, next));
  }

  #cancel(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = 0;
    this.#timer = undefined;
  }

  #setLink(link: Link): void {
    this.#link = link;
    this.#wasLost ||= link.state === "lost";
    this.#watchers.forEach((changed) => changed());
  }
}
