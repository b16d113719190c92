import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";

import { ruleList } from "../app/resources";
import { callsOf, type Call, type Turn } from "../state";
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

function drawApproval(annotations = hints, turn = turnOf("approval", "turn-n")) {
  drawOpen(<ApprovalCard call={callOf(turn, "call_turn-n_2_0")} turn={turn} first={false} />, [
    createIssue(annotations),
  ]);
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
    const turn = turnOf("approval", "turn-n");
    const card = <ApprovalCard call={callOf(turn, "call_turn-n_2_0")} turn={turn} first={false} />;
    const { unmount } = drawOpen(card, [], false);
    expect(screen.queryByRole("button")).toBeNull();
    unmount();
    drawOpen(card, [], true);
    expect(screen.getByText("nothing; the server is not running now")).toBeTruthy();
  });

  test("shows every argument in full, the rule and what the server claims", () => {
    drawApproval();
    expect(screen.getByRole("heading", { name: "Allow Create issue?" })).toBeTruthy();
    expect(screen.getByText(/Over 40 restarts: p95 9.8 s to recover/)).toBeTruthy();
    expect(screen.getByText('["bug", "pool"]')).toBeTruthy();
    expect(screen.getByText("Rule 4")).toBeTruthy();
    expect(screen.getByText("tracker.create_* → ask")).toBeTruthy();
    expect(screen.getByText("reaches outside")).toBeTruthy();
    expect(screen.getByText("tracker__create_issue")).toBeTruthy();
  });

  test("names the server the call goes to when another has a tool of the same name", () => {
    const turn = turnOf("approval", "turn-n");
    const call = callOf(turn, "call_turn-n_2_0");
    const judged = call.judged && { ...call.judged, server: "server-tracker" };
    const bare = { ...call, judged, spec: { ...call.spec, name: "create_issue" } };
    const sent = recordRequests();
    drawOpen(<ApprovalCard call={bare} turn={turn} first={false} />, [
      tool("tracker", "create_issue", { name: "create_issue", annotations: hints }),
      tool("zoo", "create_issue", { name: "create_issue", enabled: false, annotations: {} }),
    ]);
    expect(screen.getByText("tracker", { selector: ".badge" })).toBeTruthy();
    expect(screen.getByText(/not checked; tracker is/)).toBeTruthy();
    expect(screen.queryByText("zoo")).toBeNull();
    guardOver();
    click("Always allow…");
    guardOver();
    expect(screen.getByText(/tracker\.create_issue/)).toBeTruthy();
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

  test("is not offered for always when the turn has read what anyone can write", () => {
    const turn = turnOf("approval", "turn-n");
    const untrusted: Turn = {
      ...turn,
      rounds: turn.rounds.map((round) => ({
        ...round,
        calls: round.calls.map((call) =>
          call.finished
            ? {
                ...call,
                finished: { ...call.finished, output: { ...call.finished.output, untrusted: true } },
              }
            : call,
        ),
      })),
    };
    drawApproval(hints, untrusted);
    expect(screen.queryByRole("button", { name: "Always allow…" })).toBeNull();
    expect(screen.getByText(/so this call asks each time/)).toBeTruthy();
  });

  test("for always shows the very rule first", () => {
    const sent = recordRequests();
    drawApproval();
    guardOver();
    click("Always allow…");
    expect(screen.getByText("tracker.create_issue → auto")).toBeTruthy();
    guardOver();
    click("Add rule and allow");
    expect(sent.at(-1)?.body).toMatchObject({ decision: "allow", scope: "always" });
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
  const rule = (toolName: string, name = "") => ({
    approval: "ask",
    server: "tracker",
    tool: toolName,
    arguments: {},
    hint: "",
    name,
  });
  const judgedBy = async (stated: string) => {
    serve({
      "GET /policy": {
        operator_rules: [rule("delete_*"), rule("create_*")],
        rules: [rule("*", "Look first")],
      },
    });
    await act(() => ruleList.refresh());
    const turn = turnOf("approval", "turn-n");
    const call = callOf(turn, "call_turn-n_2_0");
    if (!call.judged) throw new Error("not judged");
    const asked = { ...call, judged: { ...call.judged, rule: stated } };
    drawOpen(<ApprovalCard call={asked} turn={turn} first={false} />, [createIssue()]);
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
