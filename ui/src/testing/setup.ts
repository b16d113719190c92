import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";

import { recordRequests } from "./open";

configure({ asyncUtilTimeout: 60_000 });

/** Nothing has a size or a place in jsdom. */
class NoObserver {
  observe = () => undefined;
  unobserve = () => undefined;
  disconnect = () => undefined;
}

beforeEach(() => {
  recordRequests();
  Element.prototype.scrollIntoView = () => undefined;
  Element.prototype.scrollTo = () => undefined;
  vi.stubGlobal("ResizeObserver", NoObserver);
  vi.stubGlobal("IntersectionObserver", NoObserver);
  vi.stubGlobal("matchMedia", () => ({
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
});

afterEach(async () => {
  cleanup();
  localStorage.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  await vi.dynamicImportSettled(); // what is loaded late must not come when there is no page any more
});

// jsdom knows no style of elements in MathML; browsers do.
if (!("style" in Element.prototype))
  Object.defineProperty(Element.prototype, "style", {
    get: () => document.createElement("span").style,
  });
