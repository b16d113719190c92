/** Pictures of the inspector, servers, models and settings: `node dev/pagesShots.mjs FOLDER [NAME...]`. */

import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

process.argv.splice(2, 0, "0");
const { pagesStub } = await import("./pagesStub.mjs");
const [, , , folder = "shots", ...only] = process.argv;

const click = (role, name) => (page) => page.getByRole(role, { name }).first().click();

const SCREENS = [
  { name: "inspector", path: "/ui/c/conv-done?inspect=turn-b&round=2", height: 1000 },
  {
    name: "inspector-reply",
    path: "/ui/c/conv-states?inspect=turn-s1&round=1",
    height: 1000,
    act: click("tab", /Raw reply/),
  },
  {
    name: "inspector-events",
    path: "/ui/c/conv-states?inspect=turn-s2&round=1",
    height: 1000,
    act: click("tab", /Events/),
  },
  {
    name: "inspector-call",
    path: "/ui/c/conv-done?inspect=turn-b",
    height: 1000,
    act: click("button", /bench.restart/),
  },
  { name: "inspector-wait", path: "/ui/c/conv-notes?inspect=turn-n", height: 1000 },
  {
    name: "inspector-failed",
    path: "/ui/c/conv-ends?inspect=turn-e2",
    height: 1000,
    act: click("tab", /Raw reply/),
  },
  { name: "servers", path: "/ui/servers", height: 1060, act: click("button", "files") },
  {
    name: "servers-tool",
    path: "/ui/servers",
    height: 1500,
    act: async (page) => {
      await click("button", "files")(page);
      await click("button", /write_file/)(page);
    },
  },
  {
    name: "servers-add",
    path: "/ui/servers",
    height: 1060,
    act: async (page) => {
      await click("button", "Add server")(page);
      await click("button", /Trust, approval/)(page);
    },
  },
  {
    name: "servers-import",
    path: "/ui/servers",
    height: 1060,
    act: async (page) => {
      if (await page.getByRole("button", { name: "Import config" }).isVisible()) {
        await click("button", "Import config")(page);
        await page
          .getByRole("textbox")
          .first()
          .fill(
            '{"mcpServers": {"files": {"command": "npx", "args": ["-y", "files@1.0.0", "/docs"]}, "docs": {"url": "https://docs.internal/mcp"}}}',
          );
      }
    },
  },
  { name: "servers-none", path: "/ui/servers", height: 700, demo: true },
  {
    name: "models",
    path: "/ui/models",
    height: 1000,
    act: async (page) => {
      await click("button", /^Test$/)(page);
      await click("button", "Models")(page);
    },
  },
  { name: "models-demo", path: "/ui/models", height: 900, demo: true },
  {
    name: "models-connect",
    path: "/ui/models",
    height: 900,
    demo: true,
    act: async (page) => {
      await click("button", "Enter key")(page);
      await page.getByLabel(/^Key/).fill("secret");
      await click("button", "Save and test")(page);
    },
  },
  { name: "settings", path: "/ui/settings", height: 1500, act: click("button", /^Release/) },
  {
    name: "settings-rules",
    path: "/ui/settings",
    height: 900,
    act: async (page) => {
      await click("button", "Add a rule")(page);
      await page.getByLabel("Conditions of rule 7").fill("force");
    },
  },
];

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
const sizes = (process.env.SIZES ?? "1440-light 1440-dark 1024-light 375-light 375-dark").split(" ");
for (const screen of SCREENS) {
  if (only.length && !only.includes(screen.name)) continue;
  for (const [size, theme] of sizes.map((one) => one.split("-"))) {
    const width = Number(size);
    const context = await browser.newContext({
      viewport: { width, height: width === 375 ? 812 : screen.height },
      colorScheme: theme,
      locale: "en-GB",
      timezoneId: "UTC",
    });
    const page = await context.newPage();
    const tell = (words) => console.log(screen.name, size, theme, words);
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && tell(message.text()));
    page.on("pageerror", (error) => tell(error.message));
    page.on(
      "request",
      (request) => new URL(request.url()).hostname !== "127.0.0.1" && tell(`OUTSIDE ${request.url()}`),
    );
    const server = await pagesStub({ demo: screen.demo, empty: screen.demo });
    await page.goto(`http://127.0.0.1:${server.address().port}${screen.path}`);
    await page.waitForTimeout(700);
    await screen.act?.(page);
    await page.waitForTimeout(300);
    for (const words of await page.evaluate(overflowing)) tell(words);
    await page.screenshot({ path: `${folder}/${screen.name}-${size}-${theme}.png` });
    await context.close();
    server.closeAllConnections();
    server.close();
  }
}
await browser.close();
process.exit(0);

/** Whatever is wider than its box and neither scrolls nor is cut on purpose. */
function overflowing() {
  const found = [];
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth)
    found.push("the page scrolls sideways");
  for (const element of document.querySelectorAll(".main *, .inspector *")) {
    const style = window.getComputedStyle(element);
    const loose = style.overflowX === "visible" && style.display !== "inline" && !element.closest("svg, .vh");
    if (loose && element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1)
      found.push(
        `too wide: ${element.tagName} .${element.className} by ${element.scrollWidth - element.clientWidth}`,
      );
  }
  return found.slice(0, 8);
}
