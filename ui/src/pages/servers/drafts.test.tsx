import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import type { FoundConfigs, GalleryEntry, MissingValue } from "../../api";
import { serverList } from "../../app/resources";
import { Refusal, serve, type Answers } from "../../testing/server";
import Servers from "../Servers";

const ask = (name: string, more: Partial<MissingValue> = {}): MissingValue => ({
  name,
  label: "",
  secret: false,
  default: null,
  where: ["argument 2"],
  ...more,
});

const DRAFT = {
  id: "srv-1",
  name: "shelf",
  slug: "shelf",
  transport: "stdio",
  status: "draft",
  argv: ["npx", "${folder}"],
  command: "npx",
  args: ["${folder}"],
  env_names: [],
  env_values: {},
  header_names: [],
  tools: "",
  missing: [] as MissingValue[],
};

const TAVILY: GalleryEntry = {
  id: "tavily",
  name: "Tavily",
  description: "Search the web.",
  publisher: "Tavily",
  needs: ["key"],
  transport: "stdio",
  argv: ["npx", "-y", "tavily-mcp@0.2.22"],
  url: "",
  version: "0.2.22",
  asks: [ask("key", { label: "Tavily API key", secret: true, where: ["env TAVILY_API_KEY"] })],
  homepage: "",
  note: "",
  added: [],
};
const TIME = { ...TAVILY, id: "time", name: "Time", needs: [], asks: [], added: ["time"] };

async function open(servers: object[], answers: Answers = {}) {
  const asked = serve({
    "GET /servers": { servers },
    "GET /gallery": { entries: [TAVILY, TIME], count: 2 },
    ...answers,
  });
  await serverList.refresh();
  render(<Servers />);
  const sent = () => asked.filter(({ method }) => method !== "GET").map(({ path, body }) => [path, body]);
  return { asked, sent, user: userEvent.setup() };
}

const IMPORTED = { servers: [], count: 0, notes: [], unread: [] };

test("a config is sent as it was pasted, and what was not taken is read before the drafts", async () => {
  const notes = [
    { name: "web", problem: "", warnings: ["Not taken: shiny."], slug: "web" },
    { name: "odd", problem: "It is not an object.", warnings: [], slug: "" },
    { name: "fine", problem: "", warnings: [], slug: "fine" },
  ];
  const { sent, user } = await open([], {
    "POST /servers/import": { ...IMPORTED, notes, count: 2, unread: ["theme"] },
  });
  await user.click(screen.getByRole("button", { name: "Import your config" }));
  const text = "mcpServers:\n  web: {url: http://a}\n";
  await user.click(screen.getByLabelText("Paste your MCP config"));
  await user.paste(text);
  await user.click(screen.getByRole("button", { name: "Import as drafts" }));
  expect(await screen.findByText(/came in\. Not taken: shiny\./)).toBeTruthy();
  expect(screen.getByText(/was left out\. It is not an object\./)).toBeTruthy();
  expect(screen.getByText("Not about servers, and not read: theme.")).toBeTruthy();
  expect(screen.queryByText("fine")).toBeNull();
  expect(sent()).toEqual([["/servers/import", { text }]]);
  await user.click(screen.getByRole("button", { name: "Review 2 drafts" }));
  expect(screen.queryByRole("region", { name: "Import servers" })).toBeNull();
});

test("a config that cannot be read keeps the text and says why", async () => {
  const { user } = await open([], {
    "POST /servers/import": new Refusal(422, {
      code: "bad_input",
      message: "The import is not valid JSON: x",
    }),
  });
  await user.click(screen.getByRole("button", { name: "Import your config" }));
  await user.click(screen.getByLabelText("Paste your MCP config"));
  await user.paste("{{");
  await user.click(screen.getByRole("button", { name: "Import as drafts" }));
  expect(await screen.findByText(/The import is not valid JSON: x/)).toBeTruthy();
  expect(screen.getByLabelText<HTMLTextAreaElement>("Paste your MCP config").value).toBe("{{");
});

test("a draft asks for what is missing before its command can be confirmed", async () => {
  const missing = [
    ask("folder", { label: "Folder of the project" }),
    ask("key", { secret: true, where: ["env API_KEY"] }),
    ask("region", { default: "eu" }),
  ];
  const { sent, user } = await open([{ ...DRAFT, missing }], { "PATCH /servers/srv-1": { server: DRAFT } });
  const form = within(screen.getByRole("form", { name: "What shelf needs" }));
  expect(screen.queryByLabelText("Enter the command to confirm and start")).toBeNull();
  await user.click(form.getByRole("button", { name: "Continue" }));
  expect(form.getAllByText("Required")).toHaveLength(2);
  expect(sent()).toEqual([]);
  await user.type(form.getByLabelText(/^Folder of the project/), "/docs");
  const key = form.getByLabelText<HTMLInputElement>(/^key/);
  expect(key.type).toBe("password");
  await user.type(key, "hidden{Enter}");
  expect(sent()).toEqual([["/servers/srv-1", { values: { folder: "/docs", key: "hidden", region: "eu" } }]]);
});

test("a field that hides what stands in it begins empty", async () => {
  const missing = [
    ask("key", { secret: true, default: "of the file" }),
    ask("note", { secret: true, default: "" }),
  ];
  const { sent, user } = await open([{ ...DRAFT, missing }], { "PATCH /servers/srv-1": { server: DRAFT } });
  const form = within(screen.getByRole("form", { name: "What shelf needs" }));
  const key = form.getByLabelText<HTMLInputElement>(/^key/);
  expect(key.value).toBe("");
  await user.click(form.getByRole("button", { name: "Continue" }));
  expect(form.getAllByText("Required")).toHaveLength(1);
  expect(sent()).toEqual([]);
  await user.type(key, "mine{Enter}");
  expect(sent()).toEqual([["/servers/srv-1", { values: { key: "mine", note: "" } }]]);
});

const FOUND: FoundConfigs = {
  configs: [
    {
      id: "claude-desktop",
      client: "Claude Desktop",
      path: "/home/ana/claude.json",
      problem: "",
      count: 2,
      servers: [
        {
          name: "files",
          transport: "stdio",
          runs: "npx",
          env_names: ["KEY"],
          header_names: [],
          problem: "",
          added: false,
        },
        {
          name: "web",
          transport: "http",
          runs: "a.example",
          env_names: [],
          header_names: [],
          problem: "",
          added: false,
        },
        {
          name: "old",
          transport: "stdio",
          runs: "npx",
          env_names: [],
          header_names: [],
          problem: "",
          added: true,
        },
      ],
    },
    {
      id: "zed",
      client: "Zed",
      path: "/home/ana/zed.json",
      problem: "It is not valid JSON.",
      count: 0,
      servers: [],
    },
  ],
  count: 2,
  success: true,
  message: "",
};

test("configs on this computer are looked for when asked, and only the ticked ones are imported", async () => {
  const { asked, sent, user } = await open([DRAFT], {
    "GET /servers/found": FOUND,
    "POST /servers/import": IMPORTED,
  });
  expect(asked.some(({ path }) => path === "/servers/found")).toBe(false);
  await user.click(screen.getByRole("button", { name: "Look for configs" }));
  const strip = await screen.findByText(
    /Claude Desktop: 3 servers\. Zed: can’t be read\. Nothing has been started\./,
  );
  expect(strip).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Review 2" }));
  expect(screen.getByRole<HTMLInputElement>("checkbox", { name: /^old/ }).disabled).toBe(true);
  await user.click(screen.getByRole("checkbox", { name: /^web/ }));
  await user.click(screen.getByRole("button", { name: "Import 1 draft" }));
  await waitFor(() =>
    expect(sent()).toEqual([["/servers/import", { found: ["claude-desktop"], only: ["files"] }]]),
  );
  expect(screen.queryByRole("region", { name: "Found on this computer" })).toBeNull();
});

test("nothing found says so, and what to do", async () => {
  const { user } = await open([], { "GET /servers/found": { configs: [], count: 0 } });
  await user.click(screen.getAllByRole("button", { name: "Look for configs" })[0]!);
  expect(await screen.findByText(/No configs of other clients are on this computer/)).toBeTruthy();
});

test("a known server says what it needs, and is added with what its form asks for", async () => {
  const { sent, user } = await open([], { "POST /gallery/tavily/add": { server: DRAFT } });
  expect(await screen.findByRole("button", { name: /Time.*Added/ })).toBeTruthy();
  await user.click(screen.getByRole("button", { name: /Tavily.*Key/ }));
  const form = within(screen.getByRole("region", { name: "Add Tavily" }));
  expect(form.getByRole("list", { name: "Command" }).textContent).toBe("npx-ytavily-mcp@0.2.22");
  await user.click(form.getByRole("button", { name: "Add as a draft" }));
  expect(form.getByText("Required")).toBeTruthy();
  await user.type(form.getByLabelText(/^Tavily API key/), "hidden{Enter}");
  await waitFor(() => expect(sent()).toEqual([["/gallery/tavily/add", { values: { key: "hidden" } }]]));
  await waitFor(() => expect(screen.queryByRole("region", { name: "Add Tavily" })).toBeNull());
});

test("a search that finds nothing names it, and the way past the gallery", async () => {
  const { user } = await open([], { "GET /gallery?q=zzz": { entries: [], count: 0 } });
  await user.type(await screen.findByLabelText("Search known servers"), "zzz");
  expect(await screen.findByText(/No known server matches “zzz”/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "any command or address" }));
  expect(screen.getByRole("region", { name: "Add a server" })).toBeTruthy();
});

test("a gallery that cannot be loaded says so and tries again", async () => {
  const { asked, user } = await open([], {
    "GET /gallery": new Refusal(503, { code: "x", message: "Busy." }),
  });
  expect(await screen.findByText(/Couldn’t load the gallery/)).toBeTruthy();
  const before = asked.length;
  await user.click(screen.getByRole("button", { name: "Try again" }));
  expect(asked.length).toBeGreaterThan(before);
});
