import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { actionOf, askToConfirm, settleConfirming } from "../api/confirming";
import { SIGNED_OUT, setSession } from "../api/sessionState";
import { Refusal, serve } from "../testing/server";
import { ConfirmDialog } from "./ConfirmDialog";
import { credentialOf } from "./credential";

afterEach(() => settleConfirming(false));

const until = (confirmed_until: string | null) => ({
  signed_in: true,
  auth: true,
  name: "default",
  scopes: [],
  confirmed_until,
});

/** The answer is handed over as a function, so that nobody waits for it here. */
async function ask(): Promise<() => Promise<boolean>> {
  render(
    <>
      <button type="button" autoFocus>
        Start
      </button>
      <ConfirmDialog />
    </>,
  );
  let asked: Promise<boolean> = Promise.resolve(false);
  await act(async () => {
    asked = askToConfirm("POST", "/tokens");
    await Promise.resolve();
  });
  return () => asked;
}

test("a2 the dialog takes a token and gives the focus back", async () => {
  const asked = serve({ "POST /session/confirm": {}, "GET /session": until("2099-01-01T00:00:00Z") });
  const answer = await ask();
  const dialog = screen.getByRole("dialog", { name: "Confirm it’s you" });
  expect(dialog.contains(document.activeElement)).toBe(true);
  await userEvent.type(screen.getByLabelText(/Access token/), "  the-token{Enter}");
  expect(await answer()).toBe(true);
  expect(asked[0]).toMatchObject({ path: "/session/confirm", body: { token: "the-token" } });
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(document.activeElement?.textContent).toBe("Start");
});

test("a2 what does not fit is told, and the dialog stays", async () => {
  serve({ "POST /session/confirm": new Refusal(401, { code: "unauthorized", message: "It does not fit." }) });
  await ask();
  await userEvent.type(screen.getByLabelText(/Access token/), "wrong{Enter}");
  expect((await screen.findByRole("alert")).textContent).toContain("It does not fit.");
  expect(screen.getByRole("dialog")).toBeTruthy();
});

test("a2 Escape cancels", async () => {
  const answer = await ask();
  await userEvent.keyboard("{Escape}");
  expect(await answer()).toBe(false);
});

test("a2 a fresh link in another tab confirms here too", async () => {
  setSession({ ...SIGNED_OUT, signedIn: true });
  const answer = await ask();
  act(() => setSession({ ...SIGNED_OUT, signedIn: true, confirmedUntil: Date.now() + 600_000 }));
  expect(await answer()).toBe(true);
});

test.each([
  ["  tok_en-1 ", { token: "tok_en-1" }],
  ["Bearer abc", { token: "abc" }],
  ['"abc"', { token: "abc" }],
  ["http://127.0.0.1:8420/?key=a%2Db&q=1", { key: "a-b" }],
  ["123 456", { code: "123456" }],
  ["123-456", { code: "123456" }],
  ["   ", null],
] as const)("what people paste: %j", (typed, credential) => {
  expect(credentialOf(typed, true)).toEqual(credential);
});

test("digits do not sign in", () => {
  expect(credentialOf("123456")).toEqual({ token: "123456" });
});

test("the dialog says what is confirmed and for how long", async () => {
  await ask();
  const text = screen.getByRole("dialog").textContent;
  expect(text).toContain("To make an access token,");
  expect(text).toContain("10 minutes");
});

test("digits that do not fit are named and stay in the field, selected", async () => {
  serve({
    "POST /session/confirm": new Refusal(401, { code: "unauthorized", message: "The digits are wrong." }),
  });
  await ask();
  const field = screen.getByLabelText<HTMLInputElement>(/Access token/);
  await userEvent.type(field, "123456{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("Not confirmed. The digits are wrong.");
  expect([field.value, field.selectionStart, field.selectionEnd]).toEqual(["123456", 0, 6]);
  expect(document.activeElement).toBe(field);
});

test.each([
  ["POST", "/servers/files/confirm", "start a program on this computer"],
  ["PUT", "/policy", "change the rules"],
  ["POST", "/turns/t/calls/c/decision", "allow this from now on"],
  ["GET", "/something-new", "go on"],
])("%s %s is put into words", (method, path, words) => {
  expect(actionOf(method, path)).toBe(words);
});
