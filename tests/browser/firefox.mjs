// The main flow in Firefox, driven over BiDi: Playwright cannot drive the Firefox that people have.
// Arguments: the browser, the one-time URL, a folder for pictures (or ""). Prints what it saw as one line of JSON.

import { createRequire } from "node:module";

const require = createRequire(new URL("../../ui/package.json", import.meta.url));
const puppeteer = require("puppeteer-core");

const [browserPath, loginUrl, pictures] = process.argv.slice(2);
const PATIENCE_MS = 60_000;
const GUARD_MS = 400;
const PAGES = ["permissions", "servers", "models", "settings", "account", "activity"];
const origin = new URL(loginUrl).origin;
const seen = { console: [], outside: [], pages: {} };

const browser = await puppeteer.launch({ browser: "firefox", executablePath: browserPath, headless: true });
try {
  const page = await openPage();
  await page.goto(loginUrl);
  await ask(page, "Keep a note of this");
  await allowByKey(page);
  seen.answer = await lookAt(page);
  await shot(page, "answer");
  await page.reload();
  seen.reloaded = await lookAt(page);
  for (const name of PAGES) {
    await page.goto(`${origin}/ui/${name}`);
    await page.waitForSelector("h1");
    seen.pages[name] = await page.$eval("h1", (heading) => heading.textContent);
    await shot(page, name);
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));

async function openPage() {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.setViewport({ width: 1280, height: 800 });
  page.on("console", (message) => seen.console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => seen.console.push(String(error)));
  page.on("request", (request) => {
    if (/^https?:/.test(request.url()) && !request.url().startsWith(`${origin}/`))
      seen.outside.push(request.url());
  });
  return page;
}

async function ask(page, text) {
  const box = await page.waitForSelector("#composer");
  await box.type(text);
  await page.keyboard.press("Enter");
}

/** A card leaves the focus to somebody who has just typed; it takes no key in its first moment. */
async function allowByKey(page) {
  await page.waitForSelector("[data-waits]");
  await page.keyboard.down("Alt");
  await page.keyboard.press("w");
  await page.keyboard.up("Alt");
  await page.waitForFunction(() => document.activeElement?.matches("[data-waits], [data-waits] *"));
  await page.evaluate(
    (ms) =>
      new Promise((done) => {
        const since = performance.now();
        const look = () => (performance.now() - since > ms ? done() : requestAnimationFrame(look));
        look();
      }),
    GUARD_MS,
  );
  await page.keyboard.press("a");
}

/** What of the answer is drawn, and where thread and composer begin and end. What draws formulas loads after the turn's end. */
async function lookAt(page) {
  await page.waitForSelector(".turn-end");
  await page.waitForSelector(".prose math");
  return page.evaluate(() => {
    const sides = (selector) => {
      const { left, right } = document.querySelector(selector).getBoundingClientRect();
      return [left, right];
    };
    return {
      answer: document.querySelector(".turn:last-of-type .prose:last-of-type")?.textContent ?? "",
      formula: document.querySelector(".prose math")?.getBoundingClientRect().width ?? 0,
      cells: [...document.querySelectorAll(".prose td")].map((cell) => cell.textContent),
      edges: [sides(".turn-end"), sides(".composer")],
    };
  });
}

async function shot(page, name) {
  if (pictures) await page.screenshot({ path: `${pictures}/firefox-${name}.png` });
}
