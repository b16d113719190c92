import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";

import { ruleList, serverList } from "../app/resources";
import { namingFrom } from "../conversation/toolbox";
import { callsOf, type Call, type CallJudged, type Turn } from "../state";
import { drawOpen, recordRequests, tool, turnOf, type Sent } from "../testing/open";
import { Refusal, serve } from "../testing/server";
import { AlwaysStep } from "./AlwaysStep";
import { ApprovalGroup } from "./ApprovalGroup";
import type { GrantDraft } from "./grant";
import { InputCard } from "./InputCard";
import { UnknownCard } from "./UnknownCard";

const schema = {
  type: "object",
  required: ["title"],
  properties: {
    title: { type: "string" },
    body: { type: "string" },
    labels: { type: "array", items: { type: "string" } },
    priority: { type: "string", enum: ["low", "normal", "high"] },
  },
};

const hints = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };
const createIssue = (annotations = hints) =>
  tool("tracker", "create_issue", { input_schema: schema, annotations });
const decision = "/turns/turn-n/calls/call_turn-n_2_0/decision";

function callOf(turn: Turn, id: string): Call {
  const call = callsOf(turn).find((one) => one.id === id);
  if (!call) throw new Error(`no call ${id}`);
  return call;
}

/** Asked because nothing was said, unless told otherwise. */
const UNSAID = { step: 7, rule: "it changes something, and nothing allows that yet" };

function asked(judged: Partial<CallJudged>): Call {
  const call = callOf(turnOf("approval", "turn-n"), "call_turn-n_2_0");
  if (!call.judged) throw new Error("not judged");
  return { ...call, judged: { ...call.judged, ...judged } };
}

function drawApproval(annotations = hints, judged: Partial<CallJudged> = UNSAID) {
  drawOpen(<ApprovalGroup calls={[asked(judged)]} first={false} />, [createIssue(annotations)]);
}

function guardOver(): void {
  act(() => {
    vi.advanceTimersByTime(500);
  });
}
const decided = (sent: readonly Sent[]) => sent.filter(({ path }) => path === decision).at(-1)?.body;
const click = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "Date", "setTimeout", "setInterval"] });
});

describe("an approval", () => {
  test("is asked for once it is known what the tool says of itself", () => {
    const card = <ApprovalGroup calls={[asked(UNSAID)]} first={false} />;
    const { unmount } = drawOpen(card, [], false);
    expect(screen.queryByRole("button")).toBeNull();
    unmount();
    drawOpen(card, [], true);
    expect(screen.getByText("nothing; the server is not running now")).toBeTruthy();
  });

  test("shows every argument in full, the rule and what the server claims", () => {
    drawApproval(hints, {});
    expect(screen.getByRole("heading", { name: "Allow Create issue?" })).toBeTruthy();
    expect(screen.getByText(/Over 40 restarts: p95 9.8 s to recover/)).toBeTruthy();
    expect(screen.getByText('["bug", "pool"]')).toBeTruthy();
    expect(screen.getByText("Rule 4")).toBeTruthy();
    expect(screen.getByText("tracker.create_* → ask")).toBeTruthy();
    expect(screen.getByText("contacts other systems")).toBeTruthy();
    expect(screen.getByText("tracker__create_issue")).toBeTruthy();
  });

  test("d1 names the server the call goes to when another has a tool of the same name", async () => {
    const servers = ["tracker", "zoo"].map((slug) => ({
      id: `server-${slug}`,
      slug,
      trusted: slug === "tracker",
    }));
    const sent = serve({ "GET /servers": { servers }, "GET /policy": { rules: [], operator_rules: [] } });
    await act(() => serverList.refresh());
    const call = asked({ ...UNSAID, server: "server-zoo" });
    const bare = { ...call, spec: { ...call.spec, name: "create_issue" } };
    drawOpen(<ApprovalGroup calls={[bare]} first={false} />, [
      tool("tracker", "create_issue", { name: "create_issue", annotations: hints }),
      tool("zoo", "create_issue", { name: "zoo__create_issue", enabled: false, annotations: {} }),
    ]);
    expect(screen.getByText("zoo", { selector: ".srv > span" })).toBeTruthy();
    expect(screen.getByText("not trusted")).toBeTruthy();
    expect(screen.getByText("Not trusted: its hints are ignored.")).toBeTruthy();
    expect(screen.queryByText("contacts other systems")).toBeNull();
    expect(screen.getByText("Also exists on tracker. This call goes to zoo.")).toBeTruthy();
    guardOver();
    click("Always allow…");
    guardOver();
    expect(screen.getByText("zoo.create_issue")).toBeTruthy();
    expect(sent.some((one) => one.path === decision)).toBe(false);
  });

  test("takes no click in its first 400 ms", () => {
    const sent = recordRequests();
    drawApproval();
    click("Allow once");
    expect(sent.filter((one) => one.path === decision)).toEqual([]);
    guardOver();
    click("Allow once");
    expect(sent.at(-1)).toMatchObject({
      path: decision,
      body: { decision: "allow", scope: "once", hash: "9f3c1a" },
    });
  });

  test("can hold for the chat", () => {
    const sent = recordRequests();
    drawApproval();
    guardOver();
    click("Allow in this chat");
    expect(sent.at(-1)?.body).toMatchObject({ decision: "allow", scope: "conversation" });
  });

  test("fills no button when the server says it destroys", () => {
    drawApproval({ ...hints, destructiveHint: true });
    expect(screen.getByRole("button", { name: "Allow once" }).className).not.toContain("primary");
  });

  test("says that text from outside made it ask, and can allow the whole server in the chat", () => {
    const sent = recordRequests();
    drawApproval(hints, {
      step: 6,
      rule: "it sends something, and this chat has read text from outside",
      outside: "fetch on web",
    });
    expect(
      screen.getByText(/This chat has read text from outside, so this call asks./).textContent,
    ).toContain("It came from fetch on web.");
    expect(screen.queryByText(/pages from the web/)).toBeNull();
    guardOver();
    click("Allow all tools of tracker in this chat");
    expect(sent.at(-1)?.body).toMatchObject({ decision: "allow", scope: "conversation", covers: "server" });
  });

  test("leads to the setting that asks", () => {
    drawApproval(hints, { step: 4, rule: "the server's setting", permission: "server:tracker" });
    expect(screen.getByText("“Ask” is set for all tools of tracker.")).toBeTruthy();
    expect(screen.getByRole("link", { name: "Change" }).getAttribute("href")).toBe(
      "/ui/permissions#server%3Atracker",
    );
    expect(screen.getByRole("button", { name: "Always allow…" })).toBeTruthy();
  });

  test("by a rule is allowed once or not at all, and leads to the rule", () => {
    drawApproval(hints, { step: 2, rule: "rule 1", permission: "file:1" });
    expect(screen.getByRole("button", { name: "Allow once" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: /in this chat|Always/ })).toBeNull();
    expect(screen.getByRole("link", { name: "Open rule" }).getAttribute("href")).toBe(
      "/ui/permissions#file%3A1",
    );
  });

  test("of a call whose twin ended unknown is allowed once or not at all", () => {
    drawApproval(hints, { step: 0, rule: "the same call once ended unknown" });
    expect(screen.getByText("The same call once ended unknown.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /in this chat|Always/ })).toBeNull();
  });

  describe("for always", () => {
    const always = () => {
      const sent = recordRequests();
      drawApproval();
      guardOver();
      click("Always allow…");
      guardOver();
      return sent;
    };
    const radio = (name: string) => fireEvent.click(screen.getByRole("radio", { name }));

    test("holds for exactly these arguments where one is a list or long, which a condition would leave free", () => {
      const sent = always();
      click("Save grant and allow");
      expect(decided(sent)).toMatchObject({ scope: "always", covers: "arguments" });
    });

    test("d2 is bound to every plain argument and to 30 days unless a person widens it", () => {
      const sent = always();
      expect(screen.getByText("tracker.create_issue")).toBeTruthy();
      expect(screen.getByText("definition 9f3c1a")).toBeTruthy();
      radio("Only when");
      click("Save grant and allow");
      expect(decided(sent)).toMatchObject({
        decision: "allow",
        scope: "always",
        covers: "tool",
        conditions: { title: "Reconnect storm after a Postgres restart", assignee: "on-call" },
        expires_at: expect.stringMatching(/^\d{4}-/) as string,
      });
      expect(sent.filter(({ method }) => method === "PUT")).toEqual([]);
    });

    test("d2 can hold for any arguments until it is revoked", () => {
      const sent = always();
      radio("Any");
      radio("Revoked");
      click("Save grant and allow");
      expect(decided(sent)).toMatchObject({ covers: "tool" });
      expect(decided(sent)).not.toHaveProperty("conditions");
      expect(decided(sent)).not.toHaveProperty("expires_at");
    });

    test("an argument can be left out, and one turned into a pattern", () => {
      const sent = always();
      radio("Only when");
      fireEvent.click(screen.getByRole("checkbox", { name: /^assignee is/ }));
      click("Edit title");
      fireEvent.change(screen.getByLabelText("title matches"), { target: { value: "Reconnect *" } });
      fireEvent.keyDown(screen.getByLabelText("title matches"), { key: "Escape" });
      expect(screen.getByText('title matches "Reconnect *"')).toBeTruthy();
      click("Save grant and allow");
      expect(decided(sent)).toMatchObject({ conditions: { title: "Reconnect *" } });
    });

    test("d2 can hold for these very arguments in this chat", () => {
      const sent = always();
      radio("Exactly these");
      radio("This chat");
      click("Save grant and allow");
      expect(decided(sent)).toMatchObject({ scope: "conversation", covers: "arguments" });
    });

    test("says how many past calls of the tool the server counts as covered", async () => {
      const example = { turn_id: "t", call_id: "c", at: "2026-11-12T14:31:00Z", server: "tracker" };
      const sent = serve({
        "POST /permissions/coverage": {
          calls: 38,
          covered: 2,
          examples: [
            { ...example, tool: "create_issue", arguments: '{"title":"x"}', was: "ask", would: "auto" },
          ],
        },
      });
      drawApproval();
      guardOver();
      click("Always allow…");
      guardOver();
      radio("Only when");
      await act(() => vi.advanceTimersByTimeAsync(500));
      expect(screen.getByText("2 of your last 38").parentElement?.textContent).toContain(
        "Covers 2 of your last 38 calls to this tool.",
      );
      expect(sent.filter(({ path }) => path.endsWith("/coverage")).at(-1)?.body).toMatchObject({
        server: "server-tracker",
        tool: "create_issue",
        hash: "9f3c1a",
        conditions: { assignee: "on-call" },
      });
      click("See which");
      expect(screen.getByText('{"title":"x"}')).toBeTruthy();
    });

    test("begins anew once the arguments were edited", () => {
      const sent = always();
      radio("Only when");
      click("Back");
      guardOver();
      click("Edit");
      guardOver();
      fireEvent.click(screen.getByRole("tab", { name: "JSON" }));
      fireEvent.change(screen.getByLabelText("Arguments as JSON"), {
        target: { value: '{"title":"Short","board":"ops"}' },
      });
      click("Use changes");
      guardOver();
      click("Always allow…");
      guardOver();
      click("Save grant and allow");
      expect(decided(sent)).toMatchObject({ covers: "tool", conditions: { title: "Short", board: "ops" } });
    });

    test("cannot be saved when it says only when, and none of the arguments is bound", () => {
      const grant: GrantDraft = {
        covers: "some",
        bound: ["gone"],
        patterns: {},
        where: "always",
        until: "days",
      };
      const call = asked(UNSAID);
      const named = namingFrom([createIssue()])(call.spec.name, call.judged?.server);
      const nothing = () => undefined;
      const verbs = { keep: nothing, decide: nothing, go: nothing, back: nothing };
      drawOpen(<AlwaysStep call={call} named={named} error="" busy={false} drafts={{ grant }} {...verbs} />);
      expect(screen.getByRole<HTMLButtonElement>("button", { name: "Save grant and allow" }).disabled).toBe(
        true,
      );
    });
  });

  test("d3 Escape goes back a step and keeps what was typed", () => {
    const sent = recordRequests();
    drawApproval();
    guardOver();
    click("Deny…");
    fireEvent.change(screen.getByLabelText(/Reason for the model/), { target: { value: "Not yet" } });
    fireEvent.keyDown(screen.getByLabelText(/Reason for the model/), { key: "Escape" });
    guardOver();
    click("Edit");
    guardOver();
    fireEvent.change(screen.getByLabelText("title"), { target: { value: "Another" } });
    fireEvent.keyDown(screen.getByLabelText("title"), { key: "Escape" });
    expect(screen.getByText(/You changed 1 argument/)).toBeTruthy();
    guardOver();
    click("Edit");
    expect(screen.getByLabelText<HTMLInputElement>("title").value).toBe("Another");
    fireEvent.keyDown(screen.getByLabelText("title"), { key: "Escape" });
    guardOver();
    click("Deny…");
    expect(screen.getByLabelText<HTMLTextAreaElement>(/Reason for the model/).value).toBe("Not yet");
    expect(sent.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("can be denied with a reason", () => {
    const sent = recordRequests();
    drawApproval();
    guardOver();
    click("Deny…");
    fireEvent.change(screen.getByLabelText(/Reason for the model/), {
      target: { value: "Not before the tests pass" },
    });
    guardOver();
    click("Deny this call");
    expect(sent.at(-1)?.body).toMatchObject({ decision: "deny", reason: "Not before the tests pass" });
  });
});

describe("the rule that asked", () => {
  const rule = (toolName: string, id: string, name = "") => ({
    id,
    approval: "ask",
    server: "tracker",
    tool: toolName,
    arguments: {},
    hint: "",
    name,
  });
  const judgedBy = async (stated: string, permission = "") => {
    serve({
      "GET /policy": {
        operator_rules: [rule("delete_*", "file:1"), rule("create_*", "file:2")],
        rules: [rule("*", "rule-a", "Look first")],
      },
    });
    await act(() => ruleList.refresh());
    drawApproval(hints, { step: 2, rule: stated, permission });
  };

  test("is counted from the operator's rules on", async () => {
    await judgedBy("rule 2");
    expect(screen.getByText("Rule 2")).toBeTruthy();
    expect(screen.getByText("tracker.create_* → ask")).toBeTruthy();
  });

  test("goes on with the saved ones", async () => {
    await judgedBy("rule 3");
    expect(screen.getByText("tracker.* → ask")).toBeTruthy();
  });

  test("is found by its id, whatever its number was then", async () => {
    await judgedBy("rule 9", "file:2");
    expect(screen.getByText("Rule 2")).toBeTruthy();
  });

  test("is found by the name it was given", async () => {
    await judgedBy("Look first");
    expect(screen.getByText("Rule 3")).toBeTruthy();
    expect(screen.getByText("“Look first”")).toBeTruthy();
    expect(screen.getByText("tracker.* → ask")).toBeTruthy();
  });
});

test("a tool that changed while its call waited leads to the change", async () => {
  serve({
    [`POST ${decision}`]: new Refusal(409, {
      code: "tool_changed",
      message: "The tool changed while this waited.",
      hint: "Look at the change before you decide.",
    }),
  });
  drawApproval();
  guardOver();
  click("Allow once");
  await act(() => vi.advanceTimersByTimeAsync(10));
  expect(screen.getByRole("alert").textContent).toContain(
    "The tool changed while this waited. Look at the change before you decide.",
  );
  expect(screen.getByRole("link", { name: "Look at the change" }).getAttribute("href")).toBe("/ui/servers");
});

describe("editing arguments", () => {
  const edit = () => {
    drawApproval();
    guardOver();
    click("Edit");
    guardOver();
  };
  const type = (value: string) => fireEvent.change(screen.getByLabelText("title"), { target: { value } });

  test("goes back to the question with both lines of each change, and Allow once sends the changes", () => {
    const sent = recordRequests();
    edit();
    type("Pool: reconnect storm");
    expect(screen.getByText("1 changed")).toBeTruthy();
    click("Use changes");
    const [was, now] = [document.querySelector("del"), document.querySelector("ins")];
    expect(was?.textContent).toBe("−was Reconnect storm after a Postgres restart");
    expect(now?.textContent).toBe("+now Pool: reconnect storm");
    expect(screen.getByText(/You changed 1 argument. The model is told./)).toBeTruthy();
    guardOver();
    click("Allow once");
    expect(decided(sent)).toMatchObject({
      scope: "once",
      arguments: { title: "Pool: reconnect storm", labels: ["bug", "pool"] },
    });
  });

  test("can be undone from the question", () => {
    const sent = recordRequests();
    edit();
    type("Another");
    click("Use changes");
    guardOver();
    click("Undo changes");
    expect(document.querySelector("del")).toBeNull();
    click("Allow once");
    expect(decided(sent)).not.toHaveProperty("arguments");
  });

  test("marks a required field once it was touched or used, and sends nothing that does not fit", () => {
    const sent = recordRequests();
    edit();
    type("");
    expect(screen.queryByText("Required")).toBeNull();
    click("Use changes");
    expect(screen.getByText("Required")).toBeTruthy();
    fireEvent.keyDown(screen.getByLabelText("title"), { key: "Escape" });
    expect(screen.getByText(/Your changes don’t fit the tool yet/)).toBeTruthy();
    guardOver();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Allow once" }).disabled).toBe(true);
    expect(sent.filter(({ method }) => method === "POST")).toEqual([]);
  });

  test("works as JSON too", () => {
    edit();
    fireEvent.click(screen.getByRole("tab", { name: "JSON" }));
    const box = screen.getByLabelText("Arguments as JSON");
    fireEvent.change(box, { target: { value: "{broken" } });
    expect(screen.getByText("Must be a JSON object")).toBeTruthy();
    fireEvent.change(box, { target: { value: '{"title": "Short"}' } });
    click("Use changes");
    expect(document.querySelector("ins")?.textContent).toBe("+now Short");
  });
});

test.each([
  ["Mark done", "done"],
  ["Send again", "retry"],
  ["Skip", "skip"],
])("an unknown outcome is resolved by %s", (verb, as) => {
  const sent = recordRequests();
  const turn = turnOf("unknown", "turn-i");
  drawOpen(<UnknownCard call={callOf(turn, "call_turn-i_2_0")} first={false} />);
  expect(screen.getByText(/one second after this call was sent/)).toBeTruthy();
  guardOver();
  click(verb);
  expect(sent.at(-1)).toMatchObject({ path: "/turns/turn-i/calls/call_turn-i_2_0/resolve", body: { as } });
});

test("d5 a required field is red once it was touched or an answer was tried, not before", () => {
  const sent = recordRequests();
  const turn = turnOf("unknown", "turn-i");
  const call = callOf(turn, "call_turn-i_2_1");
  if (!call.input) throw new Error("nothing is asked");
  const schema = JSON.stringify({ properties: { city: { type: "string" } }, required: ["city"] });
  drawOpen(<InputCard call={call} input={{ ...call.input, schema }} first={false} />);
  const box = screen.getByLabelText<HTMLInputElement>("city");
  expect(screen.queryByText("Required")).toBeNull();
  fireEvent.blur(box);
  expect(screen.getByText("Required")).toBeTruthy();
  guardOver();
  click("Send answers");
  expect(sent.filter(({ method }) => method === "POST")).toEqual([]);
  fireEvent.change(box, { target: { value: "Oslo" } });
  fireEvent.keyDown(box, { key: "Escape" });
  expect(document.activeElement?.className).toBe("ask-card");
  expect(box.value).toBe("Oslo");
});

test("a box in a form has its description, and counts as not ticked when one is required", () => {
  const sent = recordRequests();
  const call = callOf(turnOf("unknown", "turn-i"), "call_turn-i_2_1");
  if (!call.input) throw new Error("nothing is asked");
  const drain = { type: "boolean", description: "Let running jobs finish first" };
  const schema = JSON.stringify({ properties: { drain }, required: ["drain"] });
  drawOpen(<InputCard call={call} input={{ ...call.input, schema }} first={false} />);
  expect(screen.getByRole("checkbox", { name: "drain", description: drain.description })).toBeTruthy();
  guardOver();
  click("Send answers");
  expect(sent.at(-1)?.body).toMatchObject({ content: { drain: false } });
});

test("a server's question becomes a form whose answers are sent", () => {
  const sent = recordRequests();
  const turn = turnOf("unknown", "turn-i");
  const call = callOf(turn, "call_turn-i_2_1");
  if (!call.input) throw new Error("nothing is asked");
  drawOpen(<InputCard call={call} input={call.input} first={false} />);
  expect(screen.getByText("Which environment should receive 0.4.0, and who should be told?")).toBeTruthy();
  fireEvent.change(screen.getByLabelText("environment"), { target: { value: "production" } });
  guardOver();
  click("Send answers");
  expect(sent.at(-1)).toMatchObject({
    path: "/turns/turn-i/calls/call_turn-i_2_1/input",
    body: {
      action: "accept",
      content: { environment: "production", notify: "ops@nordlys.example", drain: true },
    },
  });
});
