import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import type { Server } from "../api";
import { serverList } from "../app/resources";
import type { Turn } from "../state";
import { serve } from "../testing/server";
import { MissingServers } from "./MissingServers";

const DRIVE = { id: "srv-1", slug: "drive", name: "Drive", url: "https://drive.example/mcp" } as Server;
const MISSING = [
  { server: "drive", state: "needs_sign_in", reason: "drive.example asks for a sign-in." },
  { server: "docs", state: "failed", reason: "docs.example answered 503." },
];

async function open(status: Server["status"]) {
  const list = { servers: [{ ...DRIVE, status, signed_in: false, sign_in: null }] as Server[] };
  serve({
    "GET /servers": list,
    "POST /servers/srv-1/login": {
      authorize_url: "https://login.example/authorize?state=s",
      host: "login.example",
      scopes: [],
    },
  });
  await serverList.refresh();
  render(<MissingServers turn={{ settings: { missing: MISSING } } as Turn} />);
  return { list, user: userEvent.setup() };
}

test("a turn names the servers whose tools it lacks, and signs in to the one that asks", async () => {
  const { list, user } = await open("needs_sign_in");
  expect(screen.getByText(/needs you to sign in, so its tools are missing here/)).toBeTruthy();
  expect(screen.getByText(/is away, so its tools are missing here/).textContent).toContain("answered 503");
  list.servers = list.servers.map((one) => ({ ...one, sign_in: { host: "login.example", error: "" } }));
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  expect(await screen.findByRole("link", { name: "Open login.example" })).toBeTruthy();
});

test("once the server runs again, the turn still says what it lacked and asks for nothing", async () => {
  await open("running");
  expect(screen.getByText(/needs you to sign in, so its tools are missing here/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Sign in" })).toBeNull();
});
