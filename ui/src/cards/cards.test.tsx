import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";

import { ruleList, serverList } from "../app/resources";
import { callsOf, type Call, type CallJudged, type Turn } from "../state";
import { drawOpen, recordRequests, tool, turnOf } from "../testing/open";
import { Refusal, serve } from "../testing/server";
import { ApprovalCard } from "./ApprovalCard";
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
  drawOpen(<ApprovalCard call={asked(judged)} first={false} />, [createIssue(annotations)]);
}

function guardOver(): void {
  act(() => {
    vi.advanceTimersByTime(500);
  });
}
const click = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "Date", "setTimeout", "setInterval"] });
});

describe("an approval", () => {
  test("is asked for once it is known what the tool says of itself", () => {
    const card = <ApprovalCard call={asked(UNSAID)} first={false} />;
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
    drawOpen(<ApprovalCard call={bare} first={false} />, [
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
    });
    expect(screen.getByText("This chat has read text from outside, so this call asks.")).toBeTruthy();
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

    test("d2 saves exactly the grant it shows, and no rule", () => {
      const sent = always();
      expect(screen.getByText("tracker.create_issue")).toBeTruthy();
      click("Save grant and allow");
      expect(sent.at(-1)).toMatchObject({
        path: decision,
        body: { decision: "allow", scope: "always", covers: "tool" },
      });
      expect(sent.at(-1)?.body).not.toHaveProperty("conditions");
      expect(sent.filter(({ method }) => method === "PUT")).toEqual([]);
    });

    test("d2 can be bound to arguments, whose signs are no patterns, and to time", () => {
      const sent = always();
      radio("Only when");
      fireEvent.click(screen.getByRole("checkbox", { name: /^assignee is/ }));
      radio(screen.getByRole("radio", { name: /^30 days/ }).textContent);
      click("Save grant and allow");
      expect(sent.at(-1)?.body).toMatchObject({
        covers: "tool",
        conditions: { title: "Reconnect storm after a Postgres restart" },
        expires_at: expect.stringMatching(/^\d{4}-/) as string,
      });
    });

    test("d2 can hold for these very arguments in this chat", () => {
      const sent = always();
      radio("Exactly these");
      radio("This chat");
      click("Save grant and allow");
      expect(sent.at(-1)?.body).toMatchObject({ scope: "conversation", covers: "arguments" });
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
    click("Edit arguments");
    guardOver();
    fireEvent.change(screen.getByLabelText("title"), { target: { value: "Another" } });
    fireEvent.keyDown(screen.getByLabelText("title"), { key: "Escape" });
    expect(screen.getByText(/You changed 1 argument/)).toBeTruthy();
    guardOver();
    click("Edit arguments");
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
    click("Edit arguments");
    guardOver();
  };
  const allow = () => screen.getByRole<HTMLButtonElement>("button", { name: "Allow once with changes" });

  test("shows what a changed field was, and sends the changes", () => {
    const sent = recordRequests();
    edit();
    expect(allow().disabled).toBe(true);
    fireEvent.change(screen.getByLabelText("title"), { target: { value: "Pool: reconnect storm" } });
    expect(screen.getByText("1 changed")).toBeTruthy();
    expect(screen.getByText("Reconnect storm after a Postgres restart").tagName).toBe("S");
    fireEvent.click(allow());
    expect(sent.at(-1)?.body).toMatchObject({
      arguments: { title: "Pool: reconnect storm", labels: ["bug", "pool"] },
    });
  });

  test("stays off until every field is valid", () => {
    edit();
    fireEvent.change(screen.getByLabelText("title"), { target: { value: "" } });
    expect(screen.getByText("Required")).toBeTruthy();
    expect(allow().disabled).toBe(true);
  });

  test("works as JSON too", () => {
    edit();
    fireEvent.click(screen.getByRole("tab", { name: "JSON" }));
    const box = screen.getByLabelText("Arguments as JSON");
    fireEvent.change(box, { target: { value: "{broken" } });
    expect(screen.getByText("Must be a JSON object")).toBeTruthy();
    fireEvent.change(box, { target: { value: '{"title": "Short"}' } });
    expect(allow().disabled).toBe(false);
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
