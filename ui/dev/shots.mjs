/** Takes pictures of every screen over the stub server: `node dev/shots.mjs FOLDER [NAME...]`. */

import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";
import { stub } from "./stub.mjs";

process.argv.splice(2, 0, "0");
const [, , , folder = "shots", ...only] = process.argv;

const SCREENS = [
  { name: "streaming", path: "/ui/c/conv-pool", height: 1180 },
  { name: "running", path: "/ui/c/conv-running", height: 900 },
  { name: "approval", path: "/ui/c/conv-notes", height: 920 },
  { name: "editing", path: "/ui/c/conv-notes", height: 1100, act: (page) => guarded(page, "Edit arguments") },
  { name: "denying", path: "/ui/c/conv-notes", height: 900, act: (page) => guarded(page, "Deny…") },
  { name: "always", path: "/ui/c/conv-notes", height: 900, act: (page) => guarded(page, "Always allow…") },
  { name: "unknown", path: "/ui/c/conv-invoices", height: 1150 },
  { name: "states", path: "/ui/c/conv-states", height: 2200 },
  { name: "ends", path: "/ui/c/conv-ends", height: 1100 },
  { name: "branches", path: "/ui/c/conv-branches", height: 900 },
  { name: "done", path: "/ui/c/conv-done", height: 1000 },
  {
    name: "tools",
    path: "/ui/c/conv-flaky",
    height: 900,
    act: openTools,
  },
  { name: "first", path: "/ui/", height: 900, demo: true },
];

async function openTools(page) {
  await page.locator("#composer").focus();
  await page.getByRole("button", { name: /^Tools/ }).click();
}

async function guarded(page, name) {
  await page.waitForTimeout(500);
  await page.getByRole("button", { name }).first().click();
}

mkdirSync(folder, { recursive: true });
const servers = { false: await stub(), true: await stub({ demo: true, empty: true }) };
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
});
for (const screen of SCREENS) {
  if (only.length && !only.includes(screen.name)) continue;
  for (const [width, theme] of [
    [1440, "light"],
    [1440, "dark"],
    [768, "light"],
    [375, "light"],
    [375, "dark"],
  ]) {
    const context = await browser.newContext({
      viewport: { width, height: width === 375 ? 812 : screen.height },
      colorScheme: theme,
      locale: "en-GB",
      timezoneId: "UTC",
    });
    const page = await context.newPage();
    page.on(
      "console",
      (message) =>
        ["error", "warning"].includes(message.type()) && console.log(screen.name, width, message.text()),
    );
    page.on("pageerror", (error) => console.log(screen.name, width, error.message));
    page.on(
      "request",
      (request) =>
        new URL(request.url()).hostname !== "127.0.0.1" &&
        !request.url().startsWith("blob:") &&
        console.log("OUTSIDE", request.url()),
    );
    await page.goto(`http://127.0.0.1:${servers[Boolean(screen.demo)].address().port}${screen.path}`);
    await page.waitForTimeout(700);
    await screen.act?.(page);
    await page.waitForTimeout(250);
    const wide = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    if (wide > 0) console.log(screen.name, width, `scrolls sideways by ${wide}`);
    await page.screenshot({ path: `${folder}/${screen.name}-${width}-${theme}.png` });
    await context.close();
  }
}
await browser.close();
Object.values(servers).forEach((server) => server.closeAllConnections() ?? server.close());
process.exit(0);
