/** The page of a conversation when answers are late, lost, or come in an unlucky order. */

import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";

import { navigate, useRoute } from "../app/router";
import { ConversationPage } from "./ConversationPage";

interface Request {
  method: string;
  path: string;
  body: Record<string, unknown>;
}

type Answer = Response | Promise<Response>;

let asked: Request[];
let answers: Record<string, (request: Request) => Answer>;
let stream: ReadableStreamDefaultController<Uint8Array>;

beforeEach(() => {
  asked = [];
  answers = {};
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}) => {
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as Record<string, unknown>) : {};
    const request = { method: init.method ?? "GET", path, body };
    asked.push(request);
    return Promise.resolve((answers[`${request.method} ${path}`] ?? other)(request));
  });
});

function opened(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => void (stream = controller) });
}

const PERSONAS = [
  { id: "assistant", name: "Assistant" },
  { id: "pirate", name: "Pirate" },
];

const LISTS = {
  servers: [],
  personas: PERSONAS,
  providers: [],
  models: [],
  available_tools: [],
  unavailable: [],
  conversations: [],
  next_cursor: null,
};

function other({ path }: Request): Response {
  if (path.startsWith("/events")) return new Response(opened());
  const id = /^\/conversations\/([^/]+)$/.exec(path)?.[1];
  const conversation = {
    id: id ?? "",
    title: "Old",
    state: "finished",
    persona: "",
    provider: "",
    model: "",
  };
  return Response.json({ ...LISTS, conversation });
}

function Open() {
  return <ConversationPage id={useRoute().conversationId} />;
}

let number = 0;

/** Each test has a conversation of its own: what is under way outlives the page. */
function open(): string {
  const id = `conv-${++number}`;
  navigate(`/ui/c/${id}`);
  render(<Open />);
  return id;
}

/** Events of turns, as they come over the stream. */
async function come(...events: object[]): Promise<void> {
  const text = events.map((event) => `event: ${typeOf(event)}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  await act(async () => {
    stream.enqueue(new TextEncoder().encode(text));
    await new Promise((done) => setTimeout(done));
  });
}

const typeOf = (event: object) => (event as { type: string }).type;
const at = "2026-01-02T03:04:05Z";

function started(turn_id: string, words: string, more: object = {}) {
  const opening = [{ role: "user", content: words }];
  return { type: "turn_started", turn_id, seq: 0, at, opening, ...more };
}

function finished(turn_id: string, outcome = "answered") {
  return { type: "turn_finished", turn_id, seq: 1, at, outcome };
}

const box = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });

function say(words: string): void {
  fireEvent.change(box(), { target: { value: words } });
  fireEvent.keyDown(box(), { key: "Enter" });
}

const sent = () => asked.filter(({ path }) => path.endsWith("/chat"));
const taken = () => Response.json({});
const lost = () => Promise.reject(new TypeError("Failed to fetch"));

/** An answer that comes when it is told to. */
function held(): { answer: () => Promise<Response>; give: (response: Answer) => Promise<void> } {
  let resolve: (response: Response) => void = () => undefined;
  const promise = new Promise<Response>((done) => (resolve = done));
  return {
    answer: () => promise.then((response) => response.clone()),
    give: (response) => act(async () => resolve(await response)),
  };
}

test("a message sent while only half of the history is here names no turn to follow", async () => {
  open();
  await come(started("t1", "one"), finished("t1"));
  await screen.findByText("one");
  say("three");
  await waitFor(() => expect(sent()).toHaveLength(1));
  expect(sent()[0]?.body).toMatchObject({ content: "three" });
  expect(sent()[0]?.body).not.toHaveProperty("parent_turn_id");
});

test("words whose answer was lost go out again under the same id", async () => {
  const id = open();
  answers[`POST /conversations/${id}/chat`] = lost;
  say("hello");
  await screen.findByText("No answer from localhost:3000. Is Windlass running there?");
  expect(box().value).toBe("hello");
  fireEvent.keyDown(box(), { key: "Enter" });
  await waitFor(() => expect(sent()).toHaveLength(2));
  expect(sent()[1]?.body.client_message_id).toBe(sent()[0]?.body.client_message_id);
});

test("words whose answer was lost leave the box when their turn is seen", async () => {
  const id = open();
  answers[`POST /conversations/${id}/chat`] = lost;
  say("hello");
  await waitFor(() => expect(box().value).toBe("hello"));
  await come(started("t1", "hello", { client_message_id: sent()[0]?.body.client_message_id }));
  await waitFor(() => expect(box().value).toBe(""));
  expect(screen.queryByRole("alert")).toBeNull();
});

test("words that could not be sent come back before those written meanwhile", async () => {
  const id = open();
  const { answer, give } = held();
  answers[`POST /conversations/${id}/chat`] = answer;
  say("first");
  fireEvent.change(box(), { target: { value: "second" } });
  await give(Response.json({}, { status: 503 }));
  await waitFor(() => expect(box().value).toBe("first\n\nsecond"));
});

test("words that could not be sent come back to their own conversation, also when it was left meanwhile", async () => {
  const id = open();
  const { answer, give } = held();
  answers[`POST /conversations/${id}/chat`] = answer;
  say("first");
  act(() => navigate("/ui/c/conv-elsewhere"));
  act(() => navigate(`/ui/c/${id}`));
  await give(Response.json({}, { status: 503 }));
  await screen.findByText("localhost:3000 answered 503.");
  expect(box().value).toBe("first");
  act(() => navigate("/ui/c/conv-elsewhere"));
  expect(box().value).toBe("");
  expect(screen.queryByText("localhost:3000 answered 503.")).toBeNull();
});

test("a message sent before the turn of the last one is shown waits for it", async () => {
  const id = open();
  answers[`POST /conversations/${id}/chat`] = taken;
  await come(started("t0", "zero"), finished("t0"));
  await screen.findByText("zero");
  say("one");
  await waitFor(() => expect(sent()).toHaveLength(1));
  await waitFor(() => expect(screen.getByRole("button", { name: /^Send/ })).toBeDefined());
  say("two");
  await screen.findByText("Queued: “two”");
  await come(
    started("t1", "one", { parent_turn_id: "t0", client_message_id: sent()[0]?.body.client_message_id }),
  );
  expect(sent()).toHaveLength(1);
  await come(finished("t1"));
  await waitFor(() => expect(sent().map(({ body }) => body.content)).toEqual(["one", "two"]));
});

test("a queued message that could not be sent comes back to the box", async () => {
  const id = open();
  answers[`POST /conversations/${id}/chat`] = lost;
  await come(started("t1", "one"));
  await screen.findByText("one");
  say("two");
  await screen.findByText("Queued: “two”");
  fireEvent.change(box(), { target: { value: "three" } });
  await come(finished("t1"));
  await waitFor(() => expect(box().value).toBe("two\n\nthree"));
});

test("queued messages are sent one by one, each after the answer to the one before", async () => {
  const id = open();
  answers[`POST /conversations/${id}/chat`] = taken;
  await come(started("t1", "one"));
  await screen.findByText("one");
  say("two");
  say("three");
  await come(finished("t1"));
  await waitFor(() => expect(sent().map(({ body }) => body.content)).toEqual(["two"]));
  await screen.findByText("Queued: “three”");
  await come(
    started("t2", "two", { parent_turn_id: "t1", client_message_id: sent()[0]?.body.client_message_id }),
    finished("t2"),
  );
  await waitFor(() => expect(sent().map(({ body }) => body.content)).toEqual(["two", "three"]));
  expect(screen.queryByText(/^Queued/)).toBeNull();
});

test("another window that has sent a queued message keeps this one from sending the next", async () => {
  const id = open();
  answers[`POST /conversations/${id}/chat`] = taken;
  await come(started("t1", "one"));
  await screen.findByText("one");
  const rest = { messages: [{ id: "m3", text: "three" }], after: "t1" };
  localStorage.setItem(`windlass.next.${id}`, JSON.stringify(rest));
  act(() => void dispatchEvent(new StorageEvent("storage", { key: `windlass.next.${id}` })));
  await come(finished("t1"));
  await screen.findByText("Queued: “three”");
  await come(started("t2", "two", { parent_turn_id: "t1" }), finished("t2"));
  await waitFor(() => expect(sent().map(({ body }) => body.content)).toEqual(["three"]));
});

test("queued messages of a turn that was stopped wait for a hand and leave the box as it is", async () => {
  const id = open();
  answers[`POST /conversations/${id}/chat`] = taken;
  await come(started("t1", "one"));
  await screen.findByText("one");
  say("two");
  say("three");
  fireEvent.change(box(), { target: { value: "four" } });
  await come(finished("t1", "stopped"));
  await screen.findByText("Not sent: “two”");
  expect(box().value).toBe("four");
  expect(sent()).toEqual([]);
  fireEvent.click(screen.getAllByRole("button", { name: "Take back" })[1] ?? document.body);
  expect(box().value).toBe("three\n\nfour");
  fireEvent.click(screen.getByRole("button", { name: "Send" }));
  await waitFor(() => expect(sent().map(({ body }) => body.content)).toEqual(["two"]));
});

test("the first message of a conversation does not lead away a person who went elsewhere", async () => {
  navigate("/ui/");
  render(<Open />);
  const { answer, give } = held();
  answers["POST /conversations"] = answer;
  say("hello");
  act(() => navigate("/ui/c/conv-elsewhere"));
  await give(Response.json({ conversation: { id: "conv-new" } }));
  await waitFor(() => expect(sent().map(({ path }) => path)).toEqual(["/conversations/conv-new/chat"]));
  expect(location.pathname).toBe("/ui/c/conv-elsewhere");
});

test("a first message that could not be sent is sent again in the conversation that was made for it", async () => {
  navigate("/ui/");
  render(<Open />);
  answers["POST /conversations"] = () => Response.json({ conversation: { id: "conv-made" } });
  answers["POST /conversations/conv-made/chat"] = lost;
  say("hello");
  await screen.findByText("No answer from localhost:3000. Is Windlass running there?");
  expect(box().value).toBe("hello");
  fireEvent.keyDown(box(), { key: "Enter" });
  await waitFor(() => expect(sent()).toHaveLength(2));
  expect(asked.filter(({ method, path }) => method === "POST" && path === "/conversations")).toHaveLength(1);
  expect(sent()[1]?.body.client_message_id).toBe(sent()[0]?.body.client_message_id);
});

async function choosePirate(): Promise<void> {
  fireEvent.keyDown(await screen.findByRole("button", { name: /^Persona/ }), { key: "Enter" });
  fireEvent.click(await screen.findByRole("menuitemcheckbox", { name: "Pirate" }));
}

test("a persona chosen before the conversation is known is kept", async () => {
  const id = `conv-${number + 1}`;
  const { answer } = held();
  answers[`GET /conversations/${id}`] = answer;
  open();
  await choosePirate();
  await waitFor(() =>
    expect(asked.find(({ method }) => method === "PATCH")?.body).toEqual({ persona: "pirate" }),
  );
});

test("a message waits until the choice made before it is kept, and is not sent when it is not", async () => {
  const id = open();
  const { answer, give } = held();
  answers[`PATCH /conversations/${id}`] = answer;
  await choosePirate();
  say("hello");
  await give(Response.json({ error: { message: "The disk is full." } }, { status: 503 }));
  await screen.findByText("The disk is full.");
  expect(sent()).toHaveLength(0);
  expect(box().value).toBe("hello");
  expect(screen.getByRole("button", { name: /^Persona/ }).textContent).toBe("Persona: Assistant");
});

/** The server is down until it is asked to come back. */
function down(id: string): () => void {
  answers[`GET /events?conversation_id=${id}`] = lost;
  answers[`GET /conversations/${id}`] = lost;
  return () => (answers = {});
}

test("a conversation opened while the server is down is known by its name once it is back", async () => {
  const back = down(`conv-${number + 1}`);
  open();
  await screen.findByText("Disconnected.");
  back();
  fireEvent.click(screen.getByRole("button", { name: "Try now" }));
  await screen.findByRole("heading", { name: "Old" });
});

test("tools that are not known yet are not said to be missing", async () => {
  const id = `conv-${number + 1}`;
  const { answer, give } = held();
  answers[`GET /conversations/${id}/tools/available`] = answer;
  open();
  fireEvent.click(screen.getByRole("button", { name: /^Tools/ }));
  await screen.findByText("Loading tools…");
  expect(screen.queryByText(/No server is running/)).toBeNull();
  await give(Response.json(LISTS));
  await screen.findByText(/No server is running/);
});

describe("d3 Escape", () => {
  const stops = () => asked.filter(({ path }) => path.endsWith("/stop"));
  const escape = (on: Element = document.body) => fireEvent.keyDown(on, { key: "Escape" });

  test("once says what a second one does; twice within a second stops the turn", async () => {
    open();
    await come(started("t1", "one"));
    await screen.findByText("one");
    const now = vi.spyOn(performance, "now").mockReturnValue(10_000); // a busy machine takes longer than a second
    escape(box());
    expect(screen.getByText("Press Esc again to stop").role).toBe("status");
    expect(stops()).toEqual([]);
    escape(box());
    expect(stops().map(({ path }) => path)).toEqual(["/turns/t1/stop"]);
    expect(screen.queryByText("Press Esc again to stop")).toBeNull();
    now.mockRestore();
  });

  test("twice with more than a second between, or held down, stops nothing", async () => {
    open();
    await come(started("t1", "one"));
    await screen.findByText("one");
    const now = vi.spyOn(performance, "now").mockReturnValue(10_000);
    escape();
    fireEvent.keyDown(document.body, { key: "Escape", repeat: true });
    now.mockReturnValue(11_001);
    escape();
    expect(stops()).toEqual([]);
    now.mockRestore();
  });

  test("in a field elsewhere leaves the field", async () => {
    open();
    await come(started("t1", "one"));
    await screen.findByText("one");
    const elsewhere = document.body.appendChild(document.createElement("input"));
    elsewhere.focus();
    escape(elsewhere);
    escape(elsewhere);
    elsewhere.remove();
    expect(screen.queryAllByText("Press Esc again to stop")).toHaveLength(1);
    expect(stops()).toEqual([]);
  });
});
