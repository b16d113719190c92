/** How much of the window the composer covers, as `--dock-h`: what comes into view must come above it. */

import { useCallback } from "react";

const HEIGHT = "--dock-h";

/** A ref for the composer's dock. */
export function useDock(): (dock: HTMLElement | null) => (() => void) | undefined {
  return useCallback((dock: HTMLElement | null) => {
    if (!dock) return undefined;
    const { style } = document.documentElement;
    const watcher = new ResizeObserver(() => style.setProperty(HEIGHT, `${dock.offsetHeight}px`));
    watcher.observe(dock);
    return () => {
      watcher.disconnect();
      style.removeProperty(HEIGHT);
    };
  }, []);
}
