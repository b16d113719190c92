import { act, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test, vi } from "vitest";

import { InPlace } from ".";

function Setting({ save = () => undefined }: { save?: (text: string) => void }) {
  const [value, setValue] = useState("4 min");
  const onSave = (text: string) => {
    save(text);
    setValue(text);
    return Promise.resolve();
  };
  return <InPlace label="Stall timeout" value={value} onSave={onSave} />;
}

const button = (value: string) => screen.getByRole("button", { name: `Stall timeout: ${value}` });

test("Enter saves what was typed, and the row says so for two seconds", async () => {
  vi.useFakeTimers();
  render(<Setting />);
  fireEvent.click(button("4 min"));
  const field = screen.getByRole("textbox", { name: "Stall timeout" });
  fireEvent.change(field, { target: { value: " 5 min " } });
  await act(() => Promise.resolve(fireEvent.keyDown(field, { key: "Enter" })));
  expect(document.activeElement).toBe(button("5 min"));
  expect(screen.getByRole("status").textContent).toBe("Saved");
  act(() => void vi.advanceTimersByTime(1999));
  expect(screen.getByRole("status").textContent).toBe("Saved");
  act(() => void vi.advanceTimersByTime(1));
  expect(screen.getByRole("status").textContent).toBe("");
});

test("Esc reverts, goes no further, and gives the focus back", async () => {
  const further = vi.fn();
  const user = userEvent.setup();
  render(
    <div onKeyDown={further}>
      <Setting />
    </div>,
  );
  await user.click(button("4 min"));
  further.mockClear();
  await user.keyboard("9{Escape}");
  expect(further.mock.calls.map(([event]) => (event as KeyboardEvent).key)).toEqual(["9"]);
  expect(document.activeElement).toBe(button("4 min"));
});

test("what is refused stays in the field, with the reason", async () => {
  const user = userEvent.setup();
  const onSave = () => Promise.reject(new Error("A time, such as 4 min."));
  render(<InPlace label="Stall timeout" value="4 min" onSave={onSave} />);
  await user.click(button("4 min"));
  await user.keyboard("soon{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("A time, such as 4 min.");
  expect(screen.getByRole<HTMLInputElement>("textbox").value).toBe("soon");
});

test("what was typed outlives a click elsewhere; what was not closes", async () => {
  const user = userEvent.setup();
  const save = vi.fn();
  render(<Setting save={save} />);
  await user.click(button("4 min"));
  await user.click(document.body);
  await user.click(button("4 min"));
  await user.keyboard("5 min");
  await user.click(document.body);
  expect(screen.getByRole<HTMLInputElement>("textbox").value).toBe("5 min");
  expect(save).not.toHaveBeenCalled();
});

test("a value set elsewhere is no button, and says where to edit it", () => {
  render(<InPlace label="Rounds" value="40" fixed="Set in windlass.toml; edit it there" onSave={vi.fn()} />);
  expect(screen.queryByRole("button")).toBeNull();
  expect(screen.getByText("Set in windlass.toml; edit it there")).toBeTruthy();
});
