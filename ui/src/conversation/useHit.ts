/** A chat opened at what a search found: its branch is shown, the message is brought into view and marked for a moment. */

import { useEffect } from "react";

import { useRoute } from "../app/router";
import { messageId, type Conversation, type Turn } from "../state";
import type { ConversationStore } from "./store";

const MARKED_MS = 3000;
const MARK = "hit"; // ::highlight(hit), and the class of the message
const LONGEST_DRAWING_MS = 2000;

/** The turn with the hit, once it is known; "" without one. */
export function useHit(
  store: ConversationStore,
  state: Conversation,
  path: readonly Turn[],
  letGo: () => void,
): string {
  const { at, find } = useRoute();
  const turn = at ? state.turns.get(turnOf(at)) : undefined;
  const known = turn !== undefined;
  const shown = known && path.includes(turn);
  useEffect(() => {
    if (known && !shown) store.showBranch(turnOf(at));
    // Once for each hit: a branch that is picked later by hand stays picked.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [at, known]);
  useEffect(() => {
    if (!shown) return;
    letGo();
    return whenDrawn(
      () => elementOf(turn, at),
      (element) => mark(element, find),
    );
    // The turn itself is another value with every event of it.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [at, find, shown]);
  return shown ? turn.id : "";
}

function turnOf(message: string): string {
  return message.replace(/^msg-/, "turn-").replace(/-[\d.]+$/, "");
}

/** The message where it is drawn, else its turn. */
function elementOf(turn: Turn, message: string): HTMLElement | null {
  const call = turn.rounds
    .flatMap((round) => round.calls)
    .find(({ finished }) => finished && messageId(turn, finished.seq) === message);
  const drawn = call
    ? document.getElementById(`call-${call.id}`)
    : document.querySelector<HTMLElement>(`[data-message="${CSS.escape(message)}"]`);
  return drawn ?? document.getElementById(turn.id);
}

/** A turn of a long chat is drawn some frames after the list has moved there. */
function whenDrawn(find: () => HTMLElement | null, act: (element: HTMLElement) => () => void): () => void {
  const since = performance.now();
  let frame = 0;
  let undo: () => void = () => undefined;
  const look = () => {
    const element = find();
    if (element) undo = act(element);
    else if (performance.now() - since < LONGEST_DRAWING_MS) frame = requestAnimationFrame(look);
  };
  frame = requestAnimationFrame(look);
  return () => {
    cancelAnimationFrame(frame);
    undo();
  };
}

function mark(element: HTMLElement, words: string): () => void {
  const ranges = rangesOf(element, words);
  const first = ranges[0]?.startContainer.parentElement;
  (first ?? element).scrollIntoView({ block: "center" });
  element.classList.add(MARK);
  if ("highlights" in CSS) CSS.highlights.set(MARK, new Highlight(...ranges));
  const clear = () => {
    element.classList.remove(MARK);
    if ("highlights" in CSS) CSS.highlights.delete(MARK);
  };
  const timer = setTimeout(clear, MARKED_MS);
  return () => {
    clearTimeout(timer);
    clear();
  };
}

/** Where words that begin as those looked for stand in the element's text, without regard to case and accents. */
export function rangesOf(element: Element, words: string): Range[] {
  const terms = words.split(/\s+/).filter(Boolean).map(folded);
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const text = folded(node.nodeValue ?? "");
    for (const term of terms)
      for (let from = text.indexOf(term); from >= 0; from = text.indexOf(term, from + term.length))
        if (!/[\p{L}\p{N}]/u.test(text.charAt(from - 1)))
          ranges.push(rangeIn(node, from, from + term.length));
  }
  return ranges;
}

function rangeIn(node: Node, from: number, to: number): Range {
  const range = document.createRange();
  range.setStart(node, from);
  range.setEnd(node, to);
  return range;
}

/** Letter by letter, so that positions stay. */
function folded(text: string): string {
  return Array.from({ length: text.length }, (_, n) => {
    const base = text.charAt(n).normalize("NFD").charAt(0).toLowerCase();
    return base.length === 1 ? base : text.charAt(n);
  }).join("");
}
