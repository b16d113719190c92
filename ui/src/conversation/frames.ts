/**
 * Folding above what is looked at and following the end of the thread both scroll. Done in one frame they would move what
 * is in view by neither the one distance nor the other, so the second of them waits for the next frame.
 */

const moved = new WeakSet<Element>();

export function hasMoved(scroller: Element): boolean {
  return moved.has(scroller);
}

export function noteMove(scroller: Element): void {
  moved.add(scroller);
  requestAnimationFrame(() => moved.delete(scroller));
}
