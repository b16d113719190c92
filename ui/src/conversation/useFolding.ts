/** Folds what has passed out of view, opens what a person asks for, and holds still whatever is looked at meanwhile. */

import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";

import { useRoute } from "../app/router";
import { messageId, type Turn } from "../state";
import { hasMoved, noteMove } from "./frames";
import { ALL, foldOf, foldable, foldsAtFirst, isWriting, type Folds } from "./folding";

export interface Folding {
  article: RefObject<HTMLElement | null>;
  folds: Folds;
  /** Opens or folds the calls of a round; what was clicked stays where it is. */
  toggleRound: (n: number, clicked: Element) => void;
  /** Opens or folds a run, or all steps. */
  toggleSteps: (run: number, clicked: Element) => void;
  /** Unfolds a call, brings it into view and opens it. */
  showCall: (id: string) => void;
}

export function useFolding(turn: Turn): Folding {
  const article = useRef<HTMLElement>(null);
  const [folds, setFolds] = useFolds(turn);
  const hold = useStill();
  useFoldAway(turn, folds, article, (away, elements) => {
    hold(anchorIn(article.current, elements));
    // At once: a scroll between the measuring and the drawing would be taken for a move, and undone.
    flushSync(() => setFolds(({ folded, opened }) => ({ folded: new Set([...folded, ...away]), opened })));
  });
  const toggleRound = useCallback(
    (n: number, clicked: Element) => {
      hold(clicked);
      setFolds((now) => (now.folded.has(n) ? opening(now, n) : folding(now, n)));
    },
    [hold, setFolds],
  );
  const toggleSteps = useCallback(
    (run: number, clicked: Element) => {
      hold(clicked);
      setFolds((now) =>
        now.opened.has(run) ? { ...now, opened: without(now.opened, run) } : opening(now, run),
      );
    },
    [hold, setFolds],
  );
  const showCall = useShowCall(turn, setFolds);
  return { article, folds, toggleRound, toggleSteps, showCall };
}

type SetFolds = (change: (now: Folds) => Folds) => void;

/** Rounds that come together with what follows them were never seen, not even as they were written: they are folded at first. */
function useFolds(turn: Turn): [Folds, SetFolds] {
  const { at } = useRoute();
  const drawn = turn.rounds.length + (isWriting(turn) ? 1 : 0);
  const [folds, setFolds] = useState(() => withHit(foldsAtFirst(turn), turn, at));
  const [seen, setSeen] = useState({ drawn, at });
  if (drawn > seen.drawn) {
    const passed = foldable(turn).filter((n) => n > seen.drawn);
    setSeen({ ...seen, drawn });
    if (passed.length > 0) setFolds({ ...folds, folded: new Set([...folds.folded, ...passed]) });
  } else if (at !== seen.at) {
    setSeen({ ...seen, at });
    setFolds(withHit(folds, turn, at));
  }
  return [folds, setFolds];
}

/** A search hit inside a folded round opens it. */
function withHit(folds: Folds, turn: Turn, message: string): Folds {
  const hit = message
    ? turn.rounds.find(({ reply, calls }) =>
        [reply.seq, ...calls.map((call) => call.finished?.seq)].some(
          (seq) => seq !== undefined && messageId(turn, seq) === message,
        ),
      )
    : undefined;
  return hit && hit.calls.length > 0 ? opening(folds, foldOf(turn, hit.n)) : folds;
}

function folding({ folded, opened }: Folds, fold: number): Folds {
  return { folded: new Set([...folded, fold]), opened: without(opened, fold) };
}

function opening({ folded, opened }: Folds, fold: number): Folds {
  return { folded: without(folded, fold), opened: new Set([...opened, fold]) };
}

function without(set: ReadonlySet<number>, one: number): ReadonlySet<number> {
  return new Set([...set].filter((n) => n !== one));
}

/** Calls `fold` with what may fold and is out of view. What holds a call that was opened by hand stays. */
function useFoldAway(
  turn: Turn,
  { folded, opened }: Folds,
  article: RefObject<HTMLElement | null>,
  fold: (away: number[], elements: Element[]) => void,
): void {
  const out = useRef(new Map<Element, boolean>());
  const due = foldable(turn).filter((n) => !folded.has(n) && !opened.has(n) && !opened.has(ALL));
  const look = () => {
    const scroller = article.current?.closest(".scroll");
    if (!scroller) return;
    if (hasMoved(scroller)) {
      requestAnimationFrame(() => newest.current());
      return;
    }
    const elements = [...out.current.keys()].filter((element) => element.isConnected);
    const away = due.filter((n) => {
      const parts = elements.filter((element) => numberOf(element) === n);
      const passed = (part: Element) => out.current.get(part) && !part.querySelector("[data-held]");
      return parts.length > 0 && parts.every((part) => passed(part) && isOutOfView(part, scroller));
    });
    if (away.length === 0) return;
    fold(
      away,
      elements.filter((element) => away.includes(numberOf(element))),
    );
    noteMove(scroller);
  };
  const newest = useRef(look);
  useEffect(() => {
    newest.current = look;
  });
  const watched = due.join();
  const rounds = turn.rounds.length;
  useEffect(() => {
    const root = article.current?.closest(".scroll");
    if (!root || !watched) return;
    out.current = new Map();
    let frame = 0;
    const watcher = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) out.current.set(target, !isIntersecting);
        // In the next frame: what has just been scrolled out of view is painted there before it folds.
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => newest.current());
      },
      { root, rootMargin: coveredMargin() },
    );
    article.current?.querySelectorAll("[data-fold]").forEach((element) => watcher.observe(element));
    return () => {
      watcher.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [article, watched, rounds]);
}

const BLOCK_PX = 116; // the block of steps where it sticks, and the space above it

/** The view ends at what sticks over it. */
function coveredMargin(): string {
  return `-${BLOCK_PX}px 0px -${dockHeight() || "0px"} 0px`;
}

function dockHeight(): string {
  return document.documentElement.style.getPropertyValue("--dock-h");
}

/** As it stands now: what the watcher tells is a frame old, and another fold may have brought it back into view. */
function isOutOfView(part: Element, scroller: Element): boolean {
  const { top, bottom } = scroller.getBoundingClientRect();
  const own = part.getBoundingClientRect();
  return own.bottom <= top + BLOCK_PX || own.top >= bottom - (parseFloat(dockHeight()) || 0);
}

function numberOf(element: Element): number {
  return element instanceof HTMLElement ? Number(element.dataset.fold) : 0;
}

const STEP_PX = 24;

/** What is looked at: the first part of a turn in view that does not fold now. */
function anchorIn(article: HTMLElement | null, folding: readonly Element[]): Element | null {
  const view = article?.closest(".scroll")?.getBoundingClientRect();
  if (!article || !view) return null;
  for (let y = view.top + BLOCK_PX; y < view.bottom; y += STEP_PX) {
    const part = document.elementFromPoint((view.left + view.right) / 2, y)?.closest(".turn > *");
    if (!part || folding.includes(part) || part.matches(".steps-block")) continue;
    // A list of which only some turns are drawn moves the others itself.
    return article.contains(part) || !article.closest(".virtual") ? part : null;
  }
  return null;
}

/** After the next drawing the element stands where it stood: in the same frame, so nothing is seen to move. */
function useStill(): (element: Element | null) => void {
  const held = useRef<{ element: Element; top: number } | null>(null);
  useLayoutEffect(() => {
    const { element, top } = held.current ?? {};
    held.current = null;
    const box = element?.closest(".scroll");
    if (!element || !box || top === undefined) return;
    box.scrollTop += ownTop(element) - top;
    noteMove(box); // also where it was the browser that scrolled, because the thread is shorter now
  });
  return useCallback((element: Element | null) => {
    held.current = element && { element, top: element.getBoundingClientRect().top };
  }, []);
}

/** Where it stands of itself; one that sticks is let go for the measuring. */
function ownTop(element: Element): number {
  const sticking = element.closest<HTMLElement>(".steps-block");
  sticking?.style.setProperty("position", "static");
  const { top } = element.getBoundingClientRect();
  sticking?.style.removeProperty("position");
  return top;
}

function useShowCall(turn: Turn, setFolds: SetFolds): (id: string) => void {
  const [wanted, setWanted] = useState({ id: "" });
  const latest = useRef(turn);
  useEffect(() => {
    latest.current = turn;
  });
  useEffect(() => {
    if (wanted.id) openRow(wanted.id);
  }, [wanted]);
  return useCallback(
    (id: string) => {
      const round = latest.current.rounds.find(({ calls }) => calls.some((call) => call.id === id));
      if (round) setFolds((now) => opening(now, foldOf(latest.current, round.n)));
      setWanted({ id });
    },
    [setFolds],
  );
}

function openRow(id: string): void {
  const row = document.getElementById(`call-${id}`);
  row?.scrollIntoView({ block: "center" });
  const toggle = row?.querySelector<HTMLElement>(".call-toggle");
  if (toggle?.getAttribute("aria-expanded") === "false") toggle.click();
  toggle?.focus({ preventScroll: true });
}
