import { beforeEach, expect, test, vi } from "vitest";

import { Refusal, serve } from "../testing/server";
import { askToConfirm, confirming, settleConfirming } from "./confirming";
import { get, post } from "./http";
import { confirmSession, openSession, signIn, signOut } from "./session";
import { SIGNED_OUT, currentSession, half, keepHalf, setSession } from "./sessionState";

const ME = { signed_in: true, auth: true, name: "default", scopes: ["admin"], confirmed_until: null };
const NOBODY = { signed_in: false, auth: true, name: null, scopes: [], confirmed_until: null };
const REFUSED = new Refusal(401, { code: "unauthorized", message: "This key does not fit." });

beforeEach(() => {
  keepHalf("");
  setSession(SIGNED_OUT);
  history.replaceState(null, "", "/");
});

test("a1 the half goes along with every request, and with none before it is known", async () => {
  const sent: Headers[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    sent.push(new Headers(init.headers));
    return Promise.resolve(Response.json({}));
  });
  await get("/servers");
  keepHalf("HALF");
  await get("/servers");
  await post("/servers", {});
  expect(sent.map((headers) => headers.get("x-windlass-session"))).toEqual([null, "HALF", "HALF"]);
});

test("a1 a key signs in, leaves the address bar and leaves the rest of the address", async () => {
  history.replaceState(null, "", "/?key=K%2F1&q=hello#end");
  const asked = serve({ "POST /session": { half: "HALF" }, "GET /session": ME });
  await openSession();
  expect(asked[0]).toMatchObject({ method: "POST", path: "/session", body: { key: "K/1" } });
  expect(location.pathname + location.search + location.hash).toBe("/?q=hello#end");
  expect(half()).toBe("HALF");
  expect(currentSession()).toMatchObject({ signedIn: true, name: "default", scopes: ["admin"] });
});

test("a1 a used key leaves the session there is", async () => {
  keepHalf("OLD");
  history.replaceState(null, "", "/?key=used");
  serve({ "POST /session": REFUSED, "GET /session": ME });
  await openSession();
  expect(half()).toBe("OLD");
  expect(currentSession()).toMatchObject({ signedIn: true, problem: "" });
  expect(location.search).toBe("");
});

test("a1 a used key is told where nobody is signed in", async () => {
  history.replaceState(null, "", "/?key=used");
  serve({ "POST /session": REFUSED, "GET /session": NOBODY });
  await openSession();
  expect(currentSession()).toMatchObject({ signedIn: false });
  expect(currentSession()?.problem).toContain("windlass token --url");
});

test("a5 without a key only the session is asked for", async () => {
  const asked = serve({ "GET /session": NOBODY });
  await openSession();
  expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /session"]);
});

test("a page that is opened while its server starts asks until it is there", async () => {
  vi.useFakeTimers();
  let tries = 0;
  vi.stubGlobal("fetch", () =>
    (tries += 1) < 3 ? Promise.reject(new TypeError("refused")) : Promise.resolve(Response.json(ME)),
  );
  const opened = openSession();
  await vi.advanceTimersByTimeAsync(10_000);
  await opened;
  expect(currentSession()?.signedIn).toBe(true);
});

test("a1 signing out in another tab signs this one out", async () => {
  serve({ "GET /session": ME });
  keepHalf("HALF");
  await openSession();
  keepHalf("");
  dispatchEvent(new StorageEvent("storage", { key: "windlass.session" }));
  expect(currentSession()?.signedIn).toBe(false);
});

test("a1 a request that crossed with another tab's sign-in is sent again with the new half", async () => {
  keepHalf("OLD");
  setSession({ ...SIGNED_OUT, signedIn: true });
  const asked = serve({
    "GET /servers": () => {
      if (half() === "NEW") return { servers: [] };
      keepHalf("NEW");
      return REFUSED;
    },
  });
  await get("/servers");
  expect(asked).toHaveLength(2);
  expect(currentSession()?.signedIn).toBe(true);
});

test("a 401 says that the session has ended; a token that does not fit does not", async () => {
  setSession({ ...SIGNED_OUT, signedIn: true });
  serve({ "POST /session": REFUSED, "GET /servers": REFUSED });
  await expect(signIn({ token: "wrong" })).rejects.toThrow("does not fit");
  expect(currentSession()?.signedIn).toBe(true);
  await expect(get("/servers")).rejects.toThrow();
  expect(currentSession()?.signedIn).toBe(false);
});

test("a1 signing out forgets the half, also where the session had ended already", async () => {
  keepHalf("HALF");
  setSession({ ...SIGNED_OUT, signedIn: true });
  serve({ "DELETE /session": REFUSED });
  await signOut();
  expect(half()).toBe("");
  expect(currentSession()?.signedIn).toBe(false);
});

const CONFIRM = new Refusal(403, { code: "confirm_required", message: "Confirm that it is you." });

/** A server that wants `/servers/x/confirm` confirmed, and takes the token for it. */
function strict() {
  let confirmed = false;
  return serve({
    "POST /servers/x/confirm": () => (confirmed ? { server: {} } : CONFIRM),
    "POST /session/confirm": () => {
      confirmed = true;
      return {};
    },
    "GET /session": ME,
  });
}

test("a2 a verb that must be confirmed waits, and is sent again as it was", async () => {
  const asked = strict();
  const verb = post("/servers/x/confirm", { argv: ["a"] });
  await vi.waitFor(() => expect(confirming()).not.toBe(""));
  await confirmSession({ token: "t" });
  settleConfirming(true);
  await verb;
  const bodies = asked.filter(({ path }) => path === "/servers/x/confirm").map(({ body }) => body);
  expect(bodies).toEqual([{ argv: ["a"] }, { argv: ["a"] }]);
});

test("a2 a verb that is not confirmed fails and says that nothing was changed", async () => {
  strict();
  const verb = post("/servers/x/confirm", {});
  await vi.waitFor(() => expect(confirming()).not.toBe(""));
  settleConfirming(false);
  await expect(verb).rejects.toMatchObject({ code: "confirm_required", message: /nothing was changed/ });
});

test("a2 verbs at the same time share one question", async () => {
  const both = Promise.all([askToConfirm("POST", "/tokens"), askToConfirm("PUT", "/policy")]);
  settleConfirming(true);
  expect(await both).toEqual([true, true]);
  expect(confirming()).toBe("");
});
