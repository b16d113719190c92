/** Makes the scenes that tests and the stub server draw: `node dev/scenes.mjs`. */

import { writeFileSync } from "node:fs";
import { Log } from "./log.mjs";

const folder = new URL("../src/testing/scenes/", import.meta.url);
const save = (name, log) =>
  writeFileSync(
    new URL(`${name}.json`, folder),
    `[\n${log.events.map((event) => JSON.stringify(event)).join(",\n")}\n]\n`,
  );

const question =
  "Compare our pool’s retry settings with published advice. If ours are off, prove it with the restart benchmark before you say so.";
const advice = [
  { title: "Exponential Backoff and Jitter", url: "https://aws.amazon.com/builders-library/jitter" },
  {
    title: "Addressing Cascading Failures",
    url: "https://sre.google/sre-book/addressing-cascading-failures/",
  },
  ...Array.from({ length: 10 }, (_, n) => ({
    title: `Retry storms, part ${n + 1}`,
    url: `https://example.org/retry/${n + 1}`,
  })),
];
const bench = { verdict: "ask", rule: "rule 3: bench.* -> ask", server: "server-bench", safe: false };
const answer = `**Ours are off, and it shows.** All 48 workers reconnect in the same instant, so the database refuses most of them and they wait another 5 s [1]. Backoff with full jitter spreads them out [2].

| 40 restarts | Recovered, p50 | p95 | Failed requests |
| --- | ---: | ---: | ---: |
| Ours: fixed 5 s, no jitter | 5.1 s | 9.8 s | 214 |
| 100 ms, doubling, full jitter, cap 10 s | 0.9 s | 1.9 s | 3 |

Change three lines in \`config/pool.toml\`. The cap matters as much as the jitter:

\`\`\`toml
base = "100ms"    # doubles after each try
jitter = "full"
cap = "10s"
\`\`\`
`;

function pool() {
  const log = new Log("conv-pool", "2026-11-15T14:40:00Z");
  for (const again of [0, 1])
    log
      .turn(`turn-a${again}`, "What does the pool do when Postgres restarts?", {
        origin: again ? "retry" : "chat",
      })
      .reply(
        "",
        [
          ["files__read_file", { path: "config/pool.toml" }],
          ["docs__search_docs", { query: "pool restart" }],
        ],
        { took: 1500, usage: [1900, 40, 0, 0] },
      )
      .start([1, 0], [1, 1])
      .wait(120)
      .finish([1, 0], '[pool]\nretry = "5s"', {
        took: 120,
        sources: [{ title: "config/pool.toml", url: "file:///srv/config/pool.toml" }],
      })
      .wait(180)
      .finish([1, 1], "pool.py 88-131", {
        took: 300,
        sources: [{ title: "pool.py, lines 88 to 131", url: "file:///srv/pool.py" }],
      })
      .reply(
        "It drops every connection and tries again every 5 s, up to the request’s own deadline [1].",
        [],
        { took: 2000, usage: [2300, 56, 0, 0] },
      )
      .end()
      .wait(60_000);
  return log
    .turn("turn-b", question, { parent: "turn-a1" })
    .stream("I need the current config, the published advice, and any open issue. ", {
      type: "reasoning_delta",
      ms: 200,
    })
    .reply(
      "",
      [
        ["files__read_file", { path: "config/pool.toml" }],
        ["docs__search_docs", { query: "reconnect backoff after restart" }],
        ["web_search", { query: "client retry jitter thundering herd" }],
        ["tracker__search_issues", { query: "pool retry", state: "open" }],
      ],
      {
        reasoning:
          "I need the current config, the published advice, and any open issue\n\nThen a measurement.",
        took: 5200,
        usage: [3934, 188, 0, 148],
        judged: { web_search: { server: "windlass" } },
      },
    )
    .start([1, 0], [1, 1], [1, 2], [1, 3])
    .wait(40)
    .finish([1, 0], '[pool]\nretry = "5s"\njitter = "none"', {
      took: 40,
      sources: [{ title: "config/pool.toml", url: "file:///srv/config/pool.toml" }],
    })
    .wait(1060)
    .finish([1, 1], '{"results": [{"title": "Addressing Cascading Failures"}]}', {
      took: 1100,
      sources: [advice[1]],
    })
    .wait(900)
    .finish([1, 3], "503 Service Unavailable: upstream connect error, retry-after 30", {
      state: "error",
      cause: "tool_error",
      took: 2000,
    })
    .wait(1200)
    .finish([1, 2], "[1] Exponential Backoff and Jitter (aws.amazon.com)", {
      took: 3200,
      size: 212_480,
      shortened: true,
      untrusted: true,
      sources: [advice[0], ...advice.slice(2)],
    })
    .stream("Our pool retries every 5 s ", {})
    .reply(
      "Our pool retries every 5 s with no jitter [1]. Published advice is exponential backoff with full jitter and a cap [2][3]. I will measure both.",
      [["bench__restart_benchmark", { restarts: 40, settings: "both" }]],
      { took: 2600, usage: [8965, 142, 3934, 0], judged: { bench__restart_benchmark: bench } },
    )
    .wait(6100)
    .durable("call_decided", {
      call_id: "call_turn-b_2_0",
      allow: true,
      scope: "once",
      arguments: "",
      reason: "",
      by: "page",
    })
    .claim()
    .start([2, 0]);
}

function poolRunning() {
  return pool().wait(12_000).passing("tool_progress", {
    call_id: "call_turn-b_2_0",
    progress: 27,
    total: 40,
    message: "Restart 27: back after 1.9 s",
  });
}

function poolStreaming() {
  const log = poolRunning()
    .wait(7000)
    .finish([2, 0], '{"ours": {"p95": 9.8}, "proposed": {"p95": 1.9}}', { took: 19_100 });
  return log.wait(900).stream(answer.slice(0, answer.indexOf('"10s"') + 3), { ms: 30 });
}

function poolDone() {
  return poolStreaming()
    .reply(answer, [], { took: 1200, usage: [9500, 282, 8000, 0] })
    .end();
}

function approval() {
  const outside = {
    verdict: "ask",
    rule: "rule 4: tracker.create_* -> ask",
    server: "server-tracker",
    safe: false,
  };
  return new Log("conv-notes", "2026-11-15T14:30:00Z")
    .turn(
      "turn-n",
      "Draft the 0.4 release notes from the merged changes. File an issue for anything still open, then push the tag.",
      { settings: { persona: "assistant" } },
    )
    .reply(
      "",
      [
        ["git__git_log", { since: "v0.3.0" }],
        ["tracker__search_issues", { state: "open" }],
        ["files__read_file", { path: "CHANGELOG.md" }],
      ],
      {
        reasoning:
          "Merged changes first, then open problems. The notes can be written without asking; filing an issue and pushing a tag cannot.",
        took: 4100,
        usage: [4300, 210, 0, 160],
      },
    )
    .start([1, 0], [1, 1], [1, 2])
    .wait(300)
    .finish([1, 2], "# Changes", { took: 300 })
    .wait(500)
    .finish([1, 0], "31 commits", { took: 800 })
    .wait(600)
    .finish([1, 1], "1 issue", { took: 1400 })
    .reply(
      "The notes are in `docs/0.4.md`: 31 changes, 4 of them breaking. One problem is still open, so I would file it before the tag goes out.",
      [
        [
          "tracker__create_issue",
          {
            title: "Reconnect storm after a Postgres restart",
            body: "All 48 workers retry at the same instant. Over 40 restarts: p95 9.8 s to recover, 214 failed requests. Proposed: 100 ms, doubling, full jitter, cap 10 s.",
            labels: ["bug", "pool"],
            assignee: "on-call",
          },
        ],
        ["git__push_tag", { tag: "v0.4.0", remote: "origin" }],
      ],
      {
        took: 2600,
        usage: [5300, 304, 0, 0],
        judged: {
          tracker__create_issue: outside,
          git__push_tag: { ...outside, rule: "rule 5: git.push_* -> ask", server: "server-git" },
        },
      },
    );
}

function unknown() {
  return new Log("conv-invoices", "2026-11-15T14:02:00Z")
    .turn("turn-i", "Send the October invoices that are still missing, then roll 0.4.0 out to staging.", {
      settings: { persona: "assistant" },
    })
    .reply(
      "",
      [
        ["billing__list_invoices", { month: "2026-10" }],
        ["billing__find_customer", { name: "Nordlys" }],
      ],
      { took: 2600 },
    )
    .start([1, 0], [1, 1])
    .wait(300)
    .finish([1, 0], "12 invoices", { took: 300 })
    .wait(400)
    .finish([1, 1], "Nordlys AS", { took: 700 })
    .reply(
      "One invoice is missing: Nordlys AS, 1,240.00 EUR.",
      [
        ["billing__create_invoice", { customer: "Nordlys AS", amount: "1240.00", currency: "EUR" }],
        ["deploy__deploy", { version: "0.4.0" }],
      ],
      {
        took: 2400,
        judged: {
          billing__create_invoice: { safe: false, server: "server-billing" },
          deploy__deploy: { server: "server-deploy" },
        },
      },
    )
    .wait(5000)
    .start([2, 0], [2, 1])
    .wait(1000)
    .claim()
    .start([2, 1])
    .wait(2000)
    .passing("input_needed", {
      call_id: "call_turn-i_2_1",
      message: "Which environment should receive 0.4.0, and who should be told?",
      schema: JSON.stringify({
        type: "object",
        properties: {
          environment: { type: "string", enum: ["staging", "production"], default: "staging" },
          notify: { type: "string", format: "email", default: "ops@nordlys.example" },
          drain: { type: "boolean", title: "drain connections first", default: true },
        },
        required: ["environment"],
      }),
      url: "",
    });
}

/** Every end of a call in one conversation, one turn each. */
function states() {
  const log = new Log("conv-states", "2026-11-15T13:00:00Z");
  const ask = (rule) => ({ verdict: "ask", rule, server: "server-git", safe: false });
  log
    .turn("turn-s1", "Search, shortened and repaired", { settings: { persona: "assistant" } })
    .reply(
      "",
      [
        ["web_search", { query: "client retry" }],
        [
          "bench__restart_benchmark",
          { restarts: 40 },
          {
            repairs: ["A call was written as text. Read as a call, because the tool was offered."],
            raw: "restart_benchmark(restarts=40",
          },
        ],
      ],
      { judged: { web_search: { server: "windlass" } } },
    )
    .start([1, 0], [1, 1])
    .wait(3200)
    .finish([1, 0], "The first part of a long page", {
      took: 3200,
      size: 212_480,
      shortened: true,
      untrusted: true,
    })
    .wait(15_900)
    .finish(
      [1, 1],
      '{"p95": 1.9, "failed": 3, "runs": [{"id": 318, "title": "Pool exhaustion"}, {"id": 402, "title": "Slow reconnect"}]}',
      { took: 19_100 },
    )
    .reply("Both are done.")
    .end();
  log
    .wait(10_000)
    .turn("turn-s2", "Fail in each way", { parent: "turn-s1" })
    .reply(
      "",
      [
        ["tracker__search_issues", { query: "pool" }],
        ["files__read_file", { path: 42 }],
        ["web_search", { query: "slow" }],
        ["git__push_tag", { tag: "v0.4.0" }],
        ["git__force_push", { force: true }],
        ["billing__create_invoice", { amount: "1240.00" }],
      ],
      {
        judged: {
          files__read_file: {
            verdict: "refuse",
            refusal: "bad_arguments",
            reason: "/path must be a string.",
            server: "server-files",
          },
          git__push_tag: ask("rule 5: git.push_* -> ask"),
          git__force_push: {
            verdict: "refuse",
            refusal: "policy",
            rule: "rule 2: git.push where force = true -> deny",
            reason: "Rule 2 denies this call.",
            server: "server-git",
          },
          billing__create_invoice: { safe: false, server: "server-billing" },
        },
      },
    )
    .finish([1, 1], "/path must be a string.", { state: "error", cause: "bad_arguments" })
    .finish([1, 4], "Rule 2 denies this call.", { state: "denied", cause: "policy" })
    .start([1, 0], [1, 2], [1, 5])
    .wait(2000)
    .finish([1, 0], "tracker answered 503 twice.", { state: "error", cause: "tool_error", took: 2000 })
    .durable("call_decided", {
      call_id: "call_turn-s2_1_3",
      allow: false,
      scope: "once",
      arguments: "",
      reason: "Not before the browser tests pass",
      by: "page",
    })
    .finish([1, 3], "The person denied this call. They said: Not before the browser tests pass", {
      state: "denied",
      cause: "person",
    })
    .wait(8000)
    .finish([1, 5], "The server went away. The outcome of this call is unknown.", {
      state: "unknown",
      cause: "server_gone",
      took: 10_000,
    })
    .wait(50_000)
    .finish([1, 2], "No answer and no progress for 60 s.", { state: "error", cause: "timeout", took: 60_000 })
    .reply("Most of that did not work.")
    .end();
  log
    .wait(10_000)
    .turn("turn-s3", "Edit, repeat, then stop", { parent: "turn-s2" })
    .reply("", [["tracker__create_issue", { title: "Reconnect storm" }]], {
      judged: {
        tracker__create_issue: { ...ask("rule 4: tracker.create_* -> ask"), server: "server-tracker" },
      },
    })
    .wait(4000)
    .durable("call_decided", {
      call_id: "call_turn-s3_1_0",
      allow: true,
      scope: "once",
      arguments: '{"title":"Pool: all workers reconnect at once"}',
      reason: "",
      by: "page",
    })
    .claim()
    .start([1, 0])
    .wait(600)
    .finish([1, 0], "Created #403", { took: 600 });
  for (const n of [2, 3, 4])
    log
      .reply("", [["docs__search_docs", { query: "same" }]], {})
      .start([n, 0])
      .wait(1000)
      .finish([n, 0], "no match", { took: 1000, digest: "d1" });
  return log
    .reply("", [["bench__restart_benchmark", { restarts: 40 }]], {
      judged: { bench__restart_benchmark: { server: "server-bench" } },
    })
    .start([5, 0])
    .wait(14_000)
    .durable("stop_requested", { by: "person", call_id: "" })
    .wait(200)
    .finish([5, 0], "This call was not run.", { state: "cancelled", cause: "stopped", took: 14_200 })
    .end("stopped", { cause: "stopped", message: "Stopped." });
}

/** How turns end other than well, and a reply that broke off twice. */
function ends() {
  const log = new Log("conv-ends", "2026-11-15T12:00:00Z");
  log
    .turn("turn-e1", "Look at everything", { limits: { rounds: 2 } })
    .reply("", [["files__list_directory", { path: "." }]])
    .start([1, 0])
    .wait(50)
    .finish([1, 0], "a\nb", { took: 50 })
    .reply("", [["files__list_directory", { path: "a" }]])
    .start([2, 0])
    .wait(50)
    .finish([2, 0], "c", { took: 50 })
    .reply("So far I have seen two folders.")
    .end("limit", {
      cause: "rounds",
      message: "Stopped at the limit of tool rounds. The answer uses what was found so far.",
    });
  log
    .wait(5000)
    .turn("turn-e2", "And now?", { parent: "turn-e1" })
    .durable("model_failed", {
      cause: "auth",
      message: "Z.AI refused the key (1113).",
      hint: "It may belong to the other plan.",
      retryable: false,
      wait_s: 0,
      partial: "",
      status: 401,
      took_ms: 300,
    })
    .end("failed", {
      cause: "auth",
      message: "Z.AI refused the key (1113).",
      hint: "It may belong to the other plan.",
    });
  return log
    .wait(5000)
    .turn("turn-e3", "Once more", { parent: "turn-e2" })
    .stream("The first try at an ans", { ms: 10 })
    .durable("model_failed", {
      cause: "interrupted",
      message: "The reply broke off.",
      hint: "",
      retryable: true,
      wait_s: 1,
      partial: "The first try at an ans",
      status: 0,
      took_ms: 900,
    })
    .wait(1000)
    .passing("reply_reset", { attempt: 2 })
    .passing("text_delta", { attempt: 1, text: "late words of the first try" })
    .stream("The second try", { attempt: 2 })
    .durable("model_failed", {
      cause: "rate_limited",
      message: "Z.AI is busy.",
      hint: "",
      retryable: true,
      wait_s: 8,
      partial: "",
      status: 429,
      took_ms: 900,
    });
}

function branches() {
  const log = new Log("conv-branches", "2026-11-15T11:00:00Z");
  log.turn("turn-r1", "Name a colour").reply("Blue.").end().wait(1000);
  log.turn("turn-r2", "Name a colour", { origin: "retry" }).reply("Green.").end().wait(1000);
  log.turn("turn-r3", "Why?", { parent: "turn-r2" }).reply("It is restful.").end().wait(1000);
  log.turn("turn-r4", "Name a warm colour").reply("Red.").end().wait(1000);
  log.turn("turn-r5", "Why?", { parent: "turn-r4" }).reply("It is the first that people name.").end();
  return log;
}

function quiet() {
  return new Log("conv-flaky", "2026-11-15T14:20:00Z")
    .turn("turn-f", "Which tests fail only in the browser run?")
    .reply(
      "",
      [
        ["git__git_log", {}],
        ["files__search_files", { text: "sleep" }],
        ["files__read_file", { path: "tests/e2e/test_tabs.py" }],
      ],
      { took: 2100, usage: [3000, 70, 0, 0] },
    )
    .start([1, 0], [1, 1], [1, 2])
    .wait(300)
    .finish([1, 0], "…", { took: 300 })
    .wait(300)
    .finish([1, 1], "…", {
      took: 600,
      sources: [{ title: "tests/e2e/test_reload.py", url: "file:///srv/tests/e2e/test_reload.py" }],
    })
    .wait(300)
    .finish([1, 2], "…", {
      took: 900,
      sources: [{ title: "tests/e2e/test_tabs.py", url: "file:///srv/tests/e2e/test_tabs.py" }],
    })
    .reply(
      "Two: `test_reload_in_mid_stream` and `test_two_tabs`. Both wait for a fixed time instead of an event, so they fail when the machine is slow [1][2].",
      [],
      { took: 2200, usage: [3400, 48, 0, 0] },
    )
    .end();
}

save("pool-running", poolRunning());
save("pool-streaming", poolStreaming());
save("pool-done", poolDone());
save("approval", approval());
save("unknown", unknown());
save("states", states());
save("ends", ends());
save("branches", branches());
save("quiet", quiet());
