import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import { searchState } from "../app/resources";
import { serve } from "../testing/server";
import { Composer } from "./Composer";
import { useMessageHint } from "./searchHint";

const nothing = () => undefined;

function draw(text = "") {
  const { container } = render(
    <Composer
      text={text}
      onText={nothing}
      attached={[]}
      onAttached={nothing}
      tools={[]}
      onSend={nothing}
      onStop={nothing}
      running={false}
      busy={false}
      placeholder=""
      controls={null}
      queue={{ messages: [], take: nothing, release: nothing }}
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
    "No search runs. Brave needs a key: web_search.brave_key.",
  ],
  [{ prefix: false, ready: true, reason: "" }, /^No search runs: slashes are plain text here/],
  [
    { backend: "off", prefix: true, ready: false, reason: "The web search is off in windlass.toml." },
    "No search runs. The web search is off in windlass.toml.",
  ],
])("slashes say whether they search, and why not (%#)", async (state, words) => {
  serve({ "GET /search": { backend: "auto", ...state } });
  draw("// newest release of SQLite");
  expect(await screen.findByText(words)).toBeTruthy();
});

function Hint() {
  return <p>hint: {useMessageHint()}</p>;
}

test.each([
  [{ prefix: true, ready: true, reason: "" }, "hint: Message, or // to search the web"],
  [{ prefix: false, ready: true, reason: "" }, "hint: Message"],
  [{ backend: "off", prefix: true, ready: false, reason: "The web search is off." }, "hint: Message"],
])("slashes are offered only where they search (%#)", async (state, words) => {
  serve({ "GET /search": { backend: "auto", ...state } });
  render(<Hint />);
  await act(() => searchState.refresh());
  expect(screen.getByText(words)).toBeTruthy();
});
