/**
 * A stand-in for the server while the page is being drawn: serves the built page and the scenes over the
 * contract's routes. `node dev/stub.mjs [PORT]`. Writes only change what it holds in memory.
 */

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

import { LISTED, PERSONAS, SERVERS, TOOLS, providers } from "./stubData.mjs";

const built = new URL("../../src/windlass/web/static/", import.meta.url);
const scene = (name) =>
  JSON.parse(readFileSync(new URL(`../src/testing/scenes/${name}.json`, import.meta.url), "utf8"));
const KINDS = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".woff2": "font/woff2",
  ".svg": "image/svg+xml",
};

export function stub({ demo = false, empty = false } = {}) {
  const listed = empty ? [] : LISTED.map((one) => ({ ...one }));
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://stub");
    const answer = route(request.method, url, { demo, listed });
    if (answer?.stream) return stream(response, answer.stream);
    if (answer) return json(response, answer);
    return page(response, url.pathname);
  });
  return new Promise((resolve) =>
    server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => resolve(server)),
  );
}

function route(method, url, { demo, listed }) {
  const [, first, id, third] = url.pathname.split("/");
  if (first === "conversations" && !id)
    return method === "GET"
      ? { conversations: listed, count: listed.length, next_cursor: null }
      : { conversation: LISTED[0] };
  if (first === "conversations" && id === "search")
    return {
      conversations: listed.slice(0, 2).map((one) => ({ ...one, excerpt: "… the words …" })),
      count: 2,
      next_cursor: null,
    };
  const conversation = listed.find((one) => one.id === id);
  if (first === "conversations" && third === "events")
    return { stream: shifted(scene(conversation?.log ?? "quiet")) };
  if (first === "conversations" && third === "tools")
    return { available_tools: TOOLS, count: TOOLS.length, unavailable: [] };
  if (first === "conversations" && id) return { conversation };
  if (first === "providers" && third === "models")
    return { models: [{ id: demo ? "demo" : "glm-4.7", provider_id: id }], count: 1 };
  if (first === "providers") return { providers: providers(demo) };
  if (first === "personas") return { personas: PERSONAS };
  if (first === "servers" && third === "tools") return { tools: TOOLS.slice(0, 7), count: 7 };
  if (first === "servers") return { servers: demo ? SERVERS.slice(0, 1) : SERVERS };
  if (first === "policy") return { rules: [] };
  if (first === "turns") return { success: true };
  return null;
}

/** The log as if its last event had happened a moment ago, so that timers look alive. */
function shifted(events) {
  const last = Math.max(...events.map((event) => Date.parse(event.at)));
  const by = Date.now() - last - 400;
  return events.map((event) => ({ ...event, at: new Date(Date.parse(event.at) + by).toISOString() }));
}

function stream(response, events) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const { type, id, ...data } of events)
    response.write(`${id ? `id: ${id}\n` : ""}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  const ping = setInterval(() => response.write("event: ping\ndata: {}\n\n"), 5000);
  response.on("close", () => clearInterval(ping));
}

function json(response, body) {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ success: true, ...body }));
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-stub'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

function page(response, path) {
  const file = path.startsWith("/ui/") && extname(path) ? path.slice("/ui/".length) : "index.html";
  try {
    const body = readFileSync(new URL(file, built));
    response.writeHead(200, {
      "content-type": KINDS[extname(file)] ?? "text/plain",
      "content-security-policy": POLICY,
    });
    response.end(file === "index.html" ? body.toString().replaceAll("__CSP_NONCE__", "stub") : body);
  } catch {
    response.writeHead(404).end();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await stub();
  console.log(`http://127.0.0.1:${server.address().port}/ui/`);
}
