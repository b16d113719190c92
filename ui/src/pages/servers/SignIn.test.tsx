import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import type { Server } from "../../api";
import { useResource } from "../../app/resource";
import { serverList } from "../../app/resources";
import { serve } from "../../testing/server";
import { SignInSteps } from "./SignInSteps";
import { opensSafely } from "./signInAddress";

const ADDRESS = "https://github.com/login/oauth/authorize?state=s&scope=repo+read%3Auser";
const SERVER = { id: "srv-1", name: "Issues", url: "https://api.githubcopilot.com/mcp/" } as Server;

function Shown() {
  const server = useResource(serverList).value?.[0];
  return server ? <SignInSteps server={server} /> : null;
}

async function open(sign_in: Server["sign_in"] = null) {
  const servers = [{ ...SERVER, status: "needs_sign_in", signed_in: false, sign_in }] as Server[];
  const list = { servers };
  const asked = serve({
    "GET /servers": list,
    "POST /servers/srv-1/login": {
      authorize_url: ADDRESS,
      host: "github.com",
      scopes: [
        { name: "repo", text: "" },
        { name: "read:user", text: "read user" },
      ],
    },
    "DELETE /servers/srv-1/login": {},
  });
  await serverList.refresh();
  render(<Shown />);
  const becomes = (attempt: Server["sign_in"]) =>
    (list.servers = servers.map((one) => ({ ...one, sign_in: attempt })));
  return { asked, becomes, user: userEvent.setup() };
}

const step = (name: RegExp) => screen.getByText(name).closest("li")!;

test("names what is asked for before the provider’s window is opened, and then whom it waits for", async () => {
  const { becomes, user } = await open();
  becomes({ host: "github.com", error: "" });
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  const first = step(/What is asked for/);
  expect(await within(first).findByText("read user")).toBeTruthy();
  expect(within(first).getByText("repo")).toBeTruthy();
  const link = within(first).getByRole("link", { name: "Open github.com" });
  expect(link.getAttribute("href")).toBe(ADDRESS);
  expect(link.getAttribute("rel")).toBe("noopener noreferrer");
  link.addEventListener("click", (event) => event.preventDefault());
  await user.click(link);
  const second = step(/The window of github\.com/);
  expect(within(second).getByRole("status").textContent).toContain("Waiting for github.com.");
  const again = within(second).getByRole("link", { name: "Open the window again" });
  expect(again.getAttribute("href")).toBe(ADDRESS);
});

test("a wait can be cancelled, and is picked up after a reload", async () => {
  const { asked, becomes, user } = await open({ host: "github.com", error: "" });
  expect(screen.getByRole("status").textContent).toContain("Waiting for github.com.");
  becomes(null);
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  expect(await screen.findByRole("button", { name: "Sign in" })).toBeTruthy();
  expect(asked.filter(({ method }) => method === "DELETE")).toHaveLength(1);
});

test("a refusal says who refused, and that nothing was saved", async () => {
  const refusal = "github.com refused: access_denied. Nothing was saved.";
  await open({ host: "github.com", error: refusal });
  expect(screen.getByRole("alert").textContent).toContain(refusal);
  expect(step(/What is asked for/).getAttribute("aria-current")).toBe("step");
  await waitFor(() => expect(screen.getByRole("button", { name: "Try again" })).toBeTruthy());
});

test.each([
  ["https://github.com/x", true],
  ["http://127.0.0.1:99/x", true],
  ["http://github.com/x", false],
  ["javascript:alert(1)", false],
  ["data:text/html,x", false],
  ["nothing", false],
])("%s is opened: %s", (address, safe) => {
  expect(opensSafely(address)).toBe(safe);
});
