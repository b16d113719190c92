import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import { SIGNED_OUT, setSession } from "../api/sessionState";
import { preference } from "../app/preferences";
import { serve } from "../testing/server";
import Account from "./Account";

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
  render(<Account />);
  return { asked, user: userEvent.setup() };
}

test("a2 another browser is signed out from here", async () => {
  const { asked, user } = open();
  await user.click(await screen.findByRole("button", { name: "Sign out Safari on iPhone" }));
  expect(asked.find(({ method }) => method === "DELETE")?.path).toBe("/sessions/s2");
});

test("a2 a new token has the scopes that were chosen, and its secret is shown once", async () => {
  const { asked, user } = open();
  await user.click(await screen.findByRole("button", { name: "New token…" }));
  const form = within(screen.getByRole("form", { name: "New token" }));
  await user.click(form.getByRole("button", { name: "Make token" }));
  expect(form.getByText("Enter a name.")).toBeTruthy();
  await user.type(form.getByLabelText("Name"), "phone");
  await user.click(form.getByRole("checkbox", { name: "approve calls" }));
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
  await user.click(screen.getByRole("button", { name: "Revoke" }));
  expect(asked.find(({ method }) => method === "DELETE")?.path).toBe("/tokens/t1");
});

test("this browser is marked, and signed out from the head", async () => {
  const { asked, user } = open();
  const here = (await screen.findByText("This browser")).closest("li");
  expect(here?.textContent).toContain("Chrome on Linux");
  expect(within(here!).queryByRole("button")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Sign out" }));
  expect(asked.find(({ method }) => method === "DELETE")?.path).toBe("/session");
});

test("a token says in words what it can and cannot do, and until when", async () => {
  open();
  const row = (await screen.findByText("script")).closest("li");
  expect(row?.textContent).toContain("run turns");
  expect(row?.textContent).toContain("can’t approve");
  expect(row?.textContent).toContain("never expires");
});

test("single-letter keys are switched off for this browser", async () => {
  const { user } = open();
  const group = within(await screen.findByRole("radiogroup", { name: "Single-letter keys" }));
  await user.click(group.getByRole("radio", { name: "Off" }));
  expect(preference("singleKeys")).toBe(false);
});

test("the theme is kept on this device and shown at once", async () => {
  const { user } = open();
  await user.click(await screen.findByRole("radio", { name: "Dark" }));
  expect(document.documentElement.dataset.theme).toBe("dark");
  expect(localStorage.getItem("windlass.theme")).toBe("dark");
  await user.click(screen.getByRole("radio", { name: "System" }));
  expect(document.documentElement.dataset.theme).toBeUndefined();
});
