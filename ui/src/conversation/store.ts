/** One open conversation: its stream, its state, and who watches. Words are drawn at most once a frame. */

import { Stream, type Link } from "../api";
import { serverNow, setSkew } from "../parts/clock";
import { takeChange } from "../sidebar/listing";
import {
  EMPTY,
  ancestorsOf,
  applyAll,
  isDurable,
  waitingCalls,
  type Conversation,
  type DurableEvent,
  type Event,
} from "../state";

const HIDDEN_FLUSH_MS = 100; // a hidden tab gets no frames, but its title and marks must stay true

const PAUSE_MS = 30;
const LONGEST_GATHERING_MS = 1500;
const BULK = 16; // as many events in one chunk are history, not a turn under way

export class ConversationStore {
  readonly id: string;
  readonly #openedAt: number;
  #state = EMPTY;
  #link: Link = { state: "connecting" };
  #wasLost = false;
  #pending: Event[] = [];
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #firstAt = 0;
  #stream: Stream | null = null;
  readonly #own = new Set<string>();
  readonly #elsewhere = new Set<string>();
  readonly #watchers = new Set<() => void>();
  readonly #hearers = new Set<(events: DurableEvent[], state: Conversation) => void>();

  constructor(id: string, openedAt = serverNow()) {
    this.id = id;
    this.#openedAt = openedAt;
  }

  /** Begin to listen; what comes back ends it. What is known is kept, so it can be opened again. */
  open(): () => void {
    const stream = new Stream(`/events?conversation_id=${encodeURIComponent(this.id)}`, {
      events: (events) => this.#take(events),
      link: (link) => this.#setLink(link),
      changed: takeChange,
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
  onDurable(hearer: (events: DurableEvent[], state: Conversation) => void): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  /** Remember that the word on this call is given from here. */
  own(callId: string): void {
    this.#own.add(callId);
  }

  /** Whether another window gave the word on this call while it waited here. */
  decidedElsewhere(callId: string): boolean {
    return this.#elsewhere.has(callId);
  }

  /** What this page did itself, shown at once. */
  put(event: Event): void {
    this.#pending.push(event);
    this.#flush();
  }

  /** Show the branch that this turn is on. */
  showBranch(turnId: string): void {
    const line = [...ancestorsOf(this.#state, turnId)].reverse();
    for (const turn_id of line) this.put({ type: "branch_picked", turn_id });
  }

  tryNow(): void {
    this.#stream?.tryNow();
  }

  #take(events: Event[]): void {
    this.#pending.push(...events);
    const gathering = this.#firstAt > 0;
    if (events.length >= BULK || (this.#state === EMPTY && !gathering)) {
      this.#takeHistory();
      return;
    }
    // Words that come in meanwhile do not keep a history from being drawn.
    if (gathering || this.#frame || this.#timer) return;
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
    this.#firstAt = 0;
    const events = this.#pending;
    this.#pending = [];
    const next = applyAll(this.#state, events);
    if (next === this.#state) return;
    this.#noteWords(events);
    this.#state = next;
    this.#watchers.forEach((changed) => changed());
    const durable = events.filter(isDurable);
    if (durable.length > 0) this.#hearers.forEach((hearer) => hearer(durable, next));
  }

  /** Against the state before: only a call that waited on this page can be decided elsewhere. */
  #noteWords(events: readonly Event[]): void {
    for (const event of events) {
      if (event.type !== "call_decided" || this.#own.has(event.call_id)) continue;
      if (Date.parse(event.at) < this.#openedAt) continue;
      const turn = this.#state.turns.get(event.turn_id);
      if (turn && waitingCalls(turn).some((call) => call.id === event.call_id))
        this.#elsewhere.add(event.call_id);
    }
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
