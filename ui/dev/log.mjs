/** Writes event logs as the server would send them: `log(title).turn(id, words).reply(...)`. */

export class Log {
  constructor(conversation, start) {
    this.conversation = conversation;
    this.now = Date.parse(start);
    this.events = [];
    this.number = 0;
    this.seqs = new Map();
    this.replies = new Map();
  }

  wait(ms) {
    this.now += ms;
    return this;
  }

  turn(id, words, more = {}) {
    this.id = id;
    this.seqs.set(id, -1);
    this.replies.set(id, 0);
    const { parent = null, limits = {}, settings = {}, origin = "chat", opening } = more;
    const base = {
      rounds: 10,
      calls: 128,
      attempts: 4,
      claims: 3,
      bad_tries: 3,
      repeats: 3,
      work_s: 1800,
      tokens: null,
    };
    return this.durable("turn_started", {
      parent_turn_id: parent,
      opening: opening ?? [{ role: "user", content: words, calls: [], call_id: "", name: "", reasoning: "" }],
      settings: {
        provider: "zai",
        model: "glm-4.7",
        persona: "researcher",
        search: "off",
        ...settings,
        limits: { ...base, ...limits },
      },
      origin,
      client_message_id: "",
      blanked: [],
    }).claim();
  }

  claim() {
    return this.durable("turn_claimed", { driver: "one", epoch: 1 });
  }

  /** `calls` are [name, arguments, extra?]; each is judged at once, as the server does. */
  reply(text, calls = [], more = {}) {
    const n = this.replies.get(this.id) + 1;
    this.replies.set(this.id, n);
    const { judged = {}, usage = [3000, 120, 0, 0], took = 2600, ...rest } = more;
    this.wait(took);
    const [prompt, completion, cached, reasoning] = usage;
    const specs = calls.map(([name, args, extra = {}], index) => ({
      id: this.call(n, index),
      name,
      arguments: JSON.stringify(args),
      wire_id: `w${index}`,
      raw: "",
      broken: "",
      repairs: [],
      ...extra,
    }));
    this.durable("model_replied", {
      text,
      calls: specs,
      reasoning: "",
      usage: { prompt, completion, cached, reasoning },
      finish: calls.length ? "tool_calls" : "stop",
      model: "glm-4.7",
      repairs: [],
      raw: "",
      sources: [],
      first_ms: 800,
      took_ms: took,
      blanked: false,
      ...rest,
    });
    specs.forEach((spec) =>
      this.durable("call_judged", {
        call_id: spec.id,
        verdict: "auto",
        rule: "",
        tool_hash: "9f3c1a",
        safe: true,
        refusal: "",
        reason: "",
        server: "",
        ...judged[spec.name],
      }),
    );
    return this;
  }

  call(reply, index) {
    return `call_${this.id}_${reply}_${index}`;
  }

  start(...places) {
    places.forEach(([reply, index]) =>
      this.durable("tool_started", { call_id: this.call(reply, index), safe: true }),
    );
    return this;
  }

  finish([reply, index], text, more = {}) {
    const {
      state = "ok",
      cause = "",
      took = 0,
      sources = [],
      untrusted = false,
      size = text.length,
      ...output
    } = more;
    return this.durable("tool_finished", {
      call_id: this.call(reply, index),
      state,
      output: {
        text,
        result_id: `result-${this.id}-${reply}-${index}`,
        size,
        shortened: false,
        digest: "",
        sources,
        untrusted,
        ...output,
      },
      cause,
      took_ms: took,
      blanked: false,
    });
  }

  end(outcome = "answered", more = {}) {
    return this.durable("turn_finished", { outcome, cause: "", message: "", hint: "", ...more });
  }

  durable(type, fields) {
    const seq = this.seqs.get(this.id) + 1;
    this.seqs.set(this.id, seq);
    this.number += 1;
    this.events.push({
      type,
      id: this.number,
      turn_id: this.id,
      conversation_id: this.conversation,
      seq,
      at: new Date(this.now).toISOString(),
      ...fields,
    });
    return this;
  }

  passing(type, fields) {
    this.events.push({ type, turn_id: this.id, at: new Date(this.now).toISOString(), ...fields });
    return this;
  }

  /** Text in pieces of a few words, as a model streams it. */
  stream(text, { attempt = 1, type = "text_delta", ms = 40 } = {}) {
    for (const piece of text.match(/\S+\s*|\s+/g) ?? [])
      this.wait(ms).passing(type, { attempt, text: piece });
    return this;
  }
}
