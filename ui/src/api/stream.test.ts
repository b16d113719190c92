import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { Event } from "../state";
import { FrameReader } from "./frames";
import { Stream, type Link } from "./stream";

const PATIENT = { timeout: 60_000 };

describe("frames", () => {
  const text = 'id: 7\nevent: text_delta\ndata: {"a":1}\n\n: note\n\nevent: ping\ndata: {}\n\n';

  test("come out the same however the bytes are cut", () => {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const reader = new FrameReader();
      const frames = [...reader.feed(text.slice(0, cut)), ...reader.feed(text.slice(cut))];
      expect(frames).toEqual([
        { id: "7", event: "text_delta", data: '{"a":1}' },
        { id: null, event: "ping", data: "{}" },
      ]);
    }
  });

  test("may have their data on several lines, and lines may end in CR LF", () => {
    expect(new FrameReader().feed("data: a\r\ndata: b\r\n\r\n")).toEqual([
      { id: null, event: "message", data: "a\nb" },
    ]);
  });
});

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
      error: { code: "not_found", message: "There is no conversation conv-1." },
    });
    const { asked, links } = serve(new Response(body, { status: 404 }));
    await vi.waitFor(() => expect(links.at(-1)).toMatchObject({ state: "refused", status: 404 }), PATIENT);
    expect(asked).toHaveLength(1);
  });
});
