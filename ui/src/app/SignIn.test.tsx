import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import { recordRequests } from "../testing/open";
import { SignIn } from "./SignIn";

test("a refused token is told with commands as code", async () => {
  const error = { code: "unauthorized", message: "Not signed in.", hint: "`windlass token` shows it." };
  recordRequests({ success: false, error }, 401);
  render(<SignIn />);
  await userEvent.type(screen.getByLabelText("Access token"), "wrong");
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toBe("Not signed in. windlass token shows it.");
  expect(alert.querySelector("code")?.textContent).toBe("windlass token");
});
