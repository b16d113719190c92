/**
 * Folding above what is looked at and following the end of the thread both scroll. Painted at once they would move what is
 * in view by neither the one distance nor the other, so the second of them waits until the first has been painted.
 */

const moved = new WeakMap<Element, number>();
let moves = 0;

export function hasMoved(scroller: Element): boolean {
  return moved.has(scroller);
}

export function noteMove(scroller: Element): void {
  const move = ++moves;
  moved.set(scroller, move);
  // The first of these frames may be the one that paints the move.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (moved.get(scroller) === move) moved.delete(scroller);
    }),
  );
}
