import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";

import { preference, setPreference, usePreference } from "./preferences";

beforeEach(() => localStorage.clear());

test("single-letter keys are on until they are switched off, and every user of the preference follows", () => {
  const { result } = renderHook(() => usePreference("singleKeys"));
  expect(result.current[0]).toBe(true);
  act(() => result.current[1](false));
  expect(result.current[0]).toBe(false);
  expect(preference("singleKeys")).toBe(false);
  act(() => setPreference("singleKeys", true));
  expect(result.current[0]).toBe(true);
});

test("a change in another tab is followed", () => {
  const { result } = renderHook(() => usePreference("singleKeys"));
  act(() => {
    localStorage.setItem("windlass.singleKeys", "off");
    dispatchEvent(new StorageEvent("storage"));
  });
  expect(result.current[0]).toBe(false);
});
