import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import { SIGNED_OUT, setSession } from "../../api/sessionState";
import { serve } from "../../testing/server";
import { Access } from "./Access";

const TIMES = { created_at: null, last_used_at: "2026-11-15T14:00:00Z", expires_at: null };
const session = (id: string, browser: string, current: boolean) => ({
  ...TIMES,
  id,
  browser,
  current,
  name: "default",
  scopes: ["admin"],
});
const token = (id: string, name: string, from_config = false) => ({
  ...TIMES,
  id,
  name,
  scopes: ["chat"],
  sessions: 1,
  from_config,
});

function open() {
  setSession({ ...SIGNED_OUT, signedIn: true, scopes: ["admin"], name: "default" });
  const asked = serve({
    "GET /sessions": {
      sessions: [session("s1", "Chrome on Linux", true), session("s2", "Safari on iPhone", false)],
    },
    "DELETE /sessions/s2": {},
    "GET /tokens": { tokens: [token("t0", "default", true), token("t1", "script")] },
    "POST /tokens": { token: token("t2", "phone"), secret: "wl_secret" },
    "DELETE /tokens/t1": {},
  });
  render(<Access />);
  return { asked, user: userEvent.setup() };
}

test("a2 another browser is signed out from here", async () => {
  const { asked, user } = open();
  await user.click(await screen.findByRole("button", { name: "Sign out Safari on iPhone" }));
  expect(asked.find(({ method }) => method === "DELETE")?.path).toBe("/sessions/s2");
});

test("a2 a new token has the scopes that were chosen, and its secret is shown once", async () => {
  const { asked, user } = open();
  await user.click(await screen.findByRole("button", { name: "New token" }));
  const form = within(screen.getByRole("form", { name: "New token" }));
  await user.click(form.getByRole("button", { name: "Make token" }));
  expect(form.getByText("Enter a name.")).toBeTruthy();
  await user.type(form.getByLabelText("Name"), "phone");
  await user.click(form.getByRole("checkbox", { name: "Approve calls" }));
  await user.click(form.getByRole("button", { name: "Make token" }));
  expect(await screen.findByText("wl_secret")).toBeTruthy();
  expect(asked.find(({ method }) => method === "POST")?.body).toEqual({
    name: "phone",
    scopes: ["chat", "approve"],
  });
  await user.click(screen.getByRole("button", { name: "Done" }));
  expect(screen.queryByText("wl_secret")).toBeNull();
});

test("a2 a token is revoked by two presses; that of the data folder is not offered", async () => {
  const { asked, user } = open();
  const offered = await screen.findAllByRole("button", { name: "Revoke…" });
  expect(offered).toHaveLength(1);
  for (const button of offered) await user.click(button);
  await user.click(screen.getByRole("button", { name: "Revoke script" }));
  expect(asked.find(({ method }) => method === "DELETE")?.path).toBe("/tokens/t1");
});
