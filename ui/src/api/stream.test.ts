import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { Event } from "../state";
import { Stream, type Link } from "./stream";

const PATIENT = { timeout: 60_000 };

describe("the stream", () => {
  let stream: Stream | undefined;
  // Waiting puts the clock forward by itself, so that no try comes before it is due, however slow the machine is.
  beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
  afterEach(() => stream?.close());

  function serve(...answers: (Response | Error)[]) {
    const asked: Headers[] = [];
    vi.stubGlobal("fetch", (_url: string, init: RequestInit) => {
      asked.push(new Headers(init.headers));
      const answer = answers.shift() ?? new Error("gone");
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    });
    const events: Event[] = [];
    const links: Link[] = [];
    stream = new Stream("/events", {
      events: (batch) => events.push(...batch),
      link: (link) => links.push(link),
      skew: () => undefined,
    });
    return { asked, events, links };
  }

  const claimed = (id: number) =>
    `id: ${id}\nevent: turn_claimed\ndata: {"turn_id":"turn-x","seq":${id},"at":"2026-11-15T14:00:00Z"}\n\n`;

  const inChunks = (...chunks: string[]) =>
    new Response(
      new ReadableStream({
        start(body) {
          for (const chunk of chunks) body.enqueue(new TextEncoder().encode(chunk));
          body.close();
        },
      }),
    );

  test("gives the same events however the bytes are cut", async () => {
    const text = `retry: 1000\n\n${claimed(4)}: note\n\nevent: ping\ndata: {}\n\n${claimed(5)}`;
    const cuts = Array.from({ length: text.length + 1 }, (_, cut) => {
      const { events } = serve(inChunks(text.slice(0, cut), text.slice(cut)));
      return { events, opened: stream };
    });
    const expected = [{ seq: 4 }, { seq: 5 }];
    await vi.waitFor(() => cuts.forEach(({ events }) => expect(events).toMatchObject(expected)), PATIENT);
    cuts.forEach(({ opened }) => opened?.close());
  });

  test("gives the events of one chunk together", async () => {
    const batches: number[] = [];
    vi.stubGlobal("fetch", () => Promise.resolve(inChunks(claimed(4) + claimed(5), claimed(6))));
    const quiet = { link: () => undefined, skew: () => undefined };
    stream = new Stream("/events", { ...quiet, events: (batch) => batches.push(batch.length) });
    await vi.waitFor(() => expect(batches).toEqual([2, 1]), PATIENT);
  });

  test("reads data on several lines, and lines that end in CR LF", async () => {
    const text = claimed(4).replace("{", "{\ndata: ").replaceAll("\n", "\r\n");
    const { events } = serve(inChunks(text));
    await vi.waitFor(() => expect(events).toMatchObject([{ type: "turn_claimed", seq: 4 }]), PATIENT);
  });

  test("goes on after the last event it saw when the connection is lost", async () => {
    const { asked, events, links } = serve(new Response(claimed(4)), new Response(claimed(5)));
    await vi.waitFor(() => expect(links.at(-1)?.state).toBe("lost"), PATIENT);
    stream?.tryNow();
    await vi.waitFor(() => expect(events).toHaveLength(2), PATIENT);
    expect(asked[0]?.get("Last-Event-ID")).toBeNull();
    expect(asked[1]?.get("Last-Event-ID")).toBe("4");
  });

  test("waits longer after each failed try, and says when the next one is", async () => {
    const { links } = serve(new Error("down"), new Error("down"));
    await vi.waitFor(() => expect(links.filter((link) => link.state === "lost")).toHaveLength(1), PATIENT);
    stream?.tryNow();
    await vi.waitFor(() => expect(links.filter((link) => link.state === "lost")).toHaveLength(2), PATIENT);
    const [, second] = links.filter((link) => link.state === "lost");
    expect(second).toMatchObject({ tries: 2 });
    expect((second?.nextTry ?? 0) - Date.now()).toBeGreaterThan(700);
  });

  test("does not come back to a server that does not want it", async () => {
    const body = JSON.stringify({
      error: { code: "not_found", message: "There is no chat conv-1." },
    });
    const { asked, links } = serve(new Response(body, { status: 404 }));
    await vi.waitFor(() => expect(links.at(-1)).toMatchObject({ state: "refused", status: 404 }), PATIENT);
    expect(asked).toHaveLength(1);
  });
});
