import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import { serve } from "../testing/server";
import { Composer } from "./Composer";

const nothing = () => undefined;

function draw(text = "") {
  const { container } = render(
    <Composer
      text={text}
      onText={nothing}
      onSend={nothing}
      onStop={nothing}
      running={false}
      busy={false}
      placeholder=""
      controls={null}
      queued=""
      onUnqueue={nothing}
      error=""
    />,
  );
  return () => container.querySelector("form")?.classList.contains("awake");
}

test("the box folds only after the click that took its focus, so that nothing moves under the pointer", () => {
  vi.useFakeTimers();
  const awake = draw();
  const box = screen.getByRole("textbox", { name: "Message" });
  act(() => box.focus());
  expect(awake()).toBe(true);
  fireEvent.pointerDown(document.body);
  act(() => box.blur());
  act(() => void vi.advanceTimersByTime(5000));
  expect(awake()).toBe(true);
  fireEvent.pointerUp(document.body);
  act(() => void vi.advanceTimersByTime(1000));
  expect(awake()).toBe(false);
});

test.each([
  [{ prefix: true, ready: true, reason: "" }, "Searches the web first. The slashes are not sent."],
  [
    { prefix: true, ready: false, reason: "Brave needs a key: web_search.brave_key." },
    "The web cannot be searched now. Brave needs a key: web_search.brave_key.",
  ],
  [{ prefix: false, ready: true, reason: "" }, /Slashes mean nothing here/],
])("slashes say whether they search, and why not (%#)", async (state, words) => {
  serve({ "GET /search": { backend: "auto", ...state } });
  draw("// newest release of SQLite");
  expect(await screen.findByText(words)).toBeTruthy();
});
