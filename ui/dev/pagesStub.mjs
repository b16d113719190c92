/**
 * The stand-in server with what the inspector, servers, models and settings pages ask for besides.
 * `node dev/pagesStub.mjs [PORT]`; WINDLASS_BUILT names another folder of built files.
 */

import { createServer, request as ask } from "node:http";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { stub } from "./stub.mjs";
import * as data from "./pagesData.mjs";

const scene = (name) =>
  JSON.parse(readFileSync(new URL(`../src/testing/scenes/${name}.json`, import.meta.url), "utf8"));
const LOGS = ["pool-done", "states", "unknown", "ends", "approval"].flatMap(scene);

export async function pagesStub({ demo = false, empty = false } = {}) {
  const behind = await stub({ demo, empty });
  const held = {
    servers: empty ? [] : data.SERVERS.map((one) => ({ ...one })),
    providers: data.providers(demo),
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://stub");
    const answer = route(request.method, url, held);
    if (answer) return json(response, answer);
    if (url.pathname.startsWith("/ui/") && process.env.WINDLASS_BUILT) return file(response, url.pathname);
    return forward(request, response, behind.address().port);
  });
  server.on("close", () => behind.close());
  return new Promise((resolve) =>
    server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => resolve(server)),
  );
}

function route(method, url, held) {
  const [, first, id, third] = url.pathname.split("/");
  if (first === "turns" && third === "log") return { events: logOf(id) };
  if (first === "turns" && third === "prompt") return promptOf(id, Number(url.searchParams.get("request")));
  if (first === "servers") return servers(method, id, third, held);
  if (first === "providers" && id === "local") return { servers: data.LOCAL };
  if (first === "providers" && third === "test") return data.TEST;
  if (first === "providers" && third === "models") return { models: data.MODELS };
  if (first === "providers" && method === "POST" && !id) {
    held.providers = [...data.providers(false).slice(0, 1), ...held.providers];
    return { provider: held.providers[0] };
  }
  if (first === "providers") return { providers: held.providers, provider: held.providers[0] };
  if (first === "policy") return { rules: data.RULES.slice(1), operator_rules: data.RULES.slice(0, 1) };
  if (first === "permissions" && method === "GET") return { permissions: data.PERMISSIONS, left_off: 0 };
  if (first === "sessions") return { sessions: data.SESSIONS };
  if (first === "tokens") return { tokens: data.TOKENS };
  if (first === "personas") return { personas: data.PERSONAS };
  if (first === "limits") return { limits: data.LIMITS };
  if (first === "health") return { status: "ok", version: "0.1.0" };
  return null;
}

function servers(method, id, third, held) {
  const server = held.servers.find((one) => one.id === id);
  if (third === "tools") return { tools: data.toolsOf(server?.slug), status: server?.status };
  if (third === "log") return { lines: data.LOG, count: 212 };
  if (third === "start" && server) server.status = "running";
  if (third === "stop" && server) server.status = "stopped";
  if (method === "DELETE") held.servers = held.servers.filter((one) => one.id !== id);
  return { servers: held.servers, server: server ?? held.servers[0], notes: [] };
}

function logOf(turnId) {
  const events = LOGS.filter((event) => event.turn_id === turnId && event.seq !== undefined);
  const live = events.at(-1)?.type !== "turn_finished";
  const by = live ? Date.now() - 90_000 - Date.parse(events.at(-1).at) : 0;
  return eventsOf(turnId).map((event) => ({
    ...event,
    at: new Date(Date.parse(event.at) + by).toISOString(),
  }));
}

function eventsOf(turnId) {
  return LOGS.filter((event) => event.turn_id === turnId && event.seq !== undefined).map(
    ({ type, ...rest }) => ({
      event: type,
      ...rest,
    }),
  );
}

/** The request as the server would have sent it, from the log before the reply. */
function promptOf(turnId, n) {
  const log = logOf(turnId);
  const replies = log.filter((event) => event.event === "model_replied");
  const opening = log[0].opening.map(({ role, content }) => ({ role, content }));
  const rounds = replies.slice(0, n - 1).flatMap((reply) => [
    {
      role: "assistant",
      content: reply.text || null,
      ...(reply.calls.length && { tool_calls: reply.calls.map(wireCall) }),
    },
    ...reply.calls.map((call) => resultOf(log, call)),
  ]);
  const body = {
    model: "glm-4.7",
    messages: [{ role: "system", content: data.SYSTEM }, ...data.HISTORY, ...opening, ...rounds],
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.7,
    tools: data.WIRE_TOOLS,
  };
  return { request: n, requests: replies.length, body };
}

function wireCall({ id, name, arguments: args }) {
  return { id, type: "function", function: { name, arguments: args } };
}

function resultOf(log, call) {
  const end = log.find((event) => event.event === "tool_finished" && event.call_id === call.id);
  const text = end?.output.text || "(no output)";
  const content = end?.output.untrusted
    ? `<result tool="${call.name}" trust="untrusted">\n${text}\n</result>`
    : end?.state === "ok"
      ? text
      : JSON.stringify({ error: text });
  return { role: "tool", content, tool_call_id: call.id };
}

const KINDS = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-stub'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'";

function file(response, path) {
  const built = pathToFileURL(`${process.env.WINDLASS_BUILT}/`);
  const name = extname(path) ? path.slice("/ui/".length) : "index.html";
  try {
    const body = readFileSync(new URL(name, built));
    const kind = KINDS[extname(name)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": kind, "content-security-policy": POLICY });
    response.end(name === "index.html" ? body.toString().replaceAll("__CSP_NONCE__", "stub") : body);
  } catch {
    response.writeHead(404).end();
  }
}

function forward(request, response, port) {
  const onward = ask(
    { port, host: "127.0.0.1", path: request.url, method: request.method, headers: request.headers },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  onward.on("error", () => response.writeHead(502).end());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

function json(response, body) {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ success: true, ...body }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await pagesStub();
  console.log(`http://127.0.0.1:${server.address().port}/ui/servers`);
}
