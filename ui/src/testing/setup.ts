import { cleanup } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";

import { recordRequests } from "./open";

beforeEach(() => {
  recordRequests();
  Element.prototype.scrollIntoView = () => undefined;
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe = () => undefined;
      unobserve = () => undefined;
      disconnect = () => undefined;
    },
  );
});

afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
