/**
 * Words on their way to the server. They keep their id until their turn is seen, so that after a lost answer the same
 * words sent again are no second message. Kept while the page is open, whatever it shows.
 */

import { useSyncExternalStore } from "react";

import { sendMessage, errorText } from "../api";
import { readAttached, together, writeAttached, type Attached } from "../composer/attached";
import { giveBack, takeAway } from "../composer/draft";

interface Letter {
  id: string;
  text: string;
  attached: readonly Attached[];
  /** "taken": the server has it, and its turn is not shown yet. */
  stage: "none" | "going" | "unsent" | "taken";
  error: string;
}

interface How {
  /** The turn to follow; where none is named, the server takes the newest. */
  parent?: string | undefined;
  /** Resources that go with it. */
  attached?: readonly Attached[];
  id?: string;
  /** What the server must have before. */
  first?: Promise<unknown>;
}

const NONE: Letter = { id: "", text: "", attached: [], stage: "none", error: "" };

export class Outbox {
  readonly #conversation: string;
  readonly #watchers = new Set<() => void>();
  readonly #seen = new Set<string>();
  #letter = NONE;

  constructor(conversation: string) {
    this.#conversation = conversation;
  }

  /** What could not be sent is given back to the box. */
  async send(
    text: string,
    { parent, attached = [], id = this.#idFor(text, attached), first }: How = {},
  ): Promise<void> {
    this.#put({ id, text, attached, stage: "going", error: "" });
    try {
      await first;
      await sendMessage(this.#conversation, {
        content: text,
        client_message_id: id,
        parent_turn_id: parent,
        ...(attached.length > 0 && { attachments: [...attached] }),
      });
      this.#put(this.#seen.has(id) ? NONE : { ...this.#letter, stage: "taken" });
    } catch (problem) {
      if (this.#seen.has(id)) this.#put(NONE);
      else this.#fail(errorText(problem));
    }
  }

  /** The turn of these words is shown, whatever was heard of their sending. */
  see(id: string): void {
    if (id) this.#seen.add(id);
    const { stage, text, attached } = this.#letter;
    if (id !== this.#letter.id || stage === "none" || stage === "going") return;
    this.#put(NONE);
    if (stage !== "unsent") return;
    takeAway(this.#conversation, text);
    const left = readAttached(this.#conversation).filter((one) => !attached.includes(one));
    writeAttached(this.#conversation, left);
  }

  #fail(error: string): void {
    this.#put({ ...this.#letter, stage: "unsent", error });
    giveBack(this.#conversation, this.#letter.text);
    const since = readAttached(this.#conversation);
    writeAttached(this.#conversation, together(this.#letter.attached, since));
  }

  #idFor(text: string, attached: readonly Attached[]): string {
    const { stage, text: before, attached: with_, id } = this.#letter;
    const same = text === before && JSON.stringify(attached) === JSON.stringify(with_);
    return stage === "unsent" && same ? id : crypto.randomUUID();
  }

  #put(letter: Letter): void {
    this.#letter = letter;
    this.#watchers.forEach((changed) => changed());
  }

  readonly watch = (changed: () => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };

  readonly letter = () => this.#letter;
}

const known = new Map<string, Outbox>();

export function outboxOf(conversation: string): Outbox {
  const outbox = known.get(conversation) ?? new Outbox(conversation);
  known.set(conversation, outbox);
  return outbox;
}

export function useLetter(outbox: Outbox): Letter {
  return useSyncExternalStore(outbox.watch, outbox.letter);
}
