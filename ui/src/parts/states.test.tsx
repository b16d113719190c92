import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";

import { Button, Empty, Problem, Skeleton } from ".";

test("a skeleton takes its room at once and draws its rows after 300 ms, not before", () => {
  vi.useFakeTimers();
  const { container } = render(<Skeleton label="Loading servers…" rows={4} row={52} />);
  const room = screen.getByRole("status");
  expect(room.style.getPropertyValue("--rows")).toBe("4");
  expect(room.style.getPropertyValue("--row-h")).toBe("52px");
  act(() => void vi.advanceTimersByTime(299));
  expect(container.querySelectorAll(".skeleton > div")).toHaveLength(0);
  expect(room.textContent).toBe("");
  act(() => void vi.advanceTimersByTime(1));
  expect(container.querySelectorAll(".skeleton > div")).toHaveLength(4);
  expect(room.textContent).toBe("Loading servers…");
});

test("a problem says what failed and why, and has one next step", async () => {
  const again = vi.fn();
  const { rerender } = render(
    <Problem what="Couldn’t load servers." error="No answer from `host:1`." onAgain={again} />,
  );
  expect(screen.getByRole("alert").textContent).toBe(
    "Couldn’t load servers. No answer from host:1.Try again",
  );
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(again).toHaveBeenCalledOnce();
  rerender(<Problem what="Couldn’t load servers." error="" onAgain={again} />);
  expect(screen.queryByRole("alert")).toBeNull();
});

test("an empty list holds the button for what to do", () => {
  render(
    <Empty icon="server" action={<Button>Add server</Button>}>
      No servers yet.
    </Empty>,
  );
  expect(screen.getByText("No servers yet.")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Add server" })).toBeTruthy();
});
