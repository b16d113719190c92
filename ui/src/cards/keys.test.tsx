import { act, fireEvent, render, screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";

import { setPreference } from "../app/preferences";
import { OpenConversation } from "../conversation/context";
import { ConversationStore } from "../conversation/store";
import { namingFrom } from "../conversation/toolbox";
import { callsOf, type Call } from "../state";
import { drawOpen, recordRequests, tool, turnOf, type Sent } from "../testing/open";
import { Refusal, serve, type Asked } from "../testing/server";
import { ApprovalGroup } from "./ApprovalGroup";

const HARMLESS = { readOnlyHint: false, destructiveHint: false };
const DESTROYS = { readOnlyHint: false, destructiveHint: true };

beforeEach(() => {
  localStorage.clear();
  vi.useFakeTimers({ toFake: ["performance", "Date", "setTimeout", "setInterval"] });
});

/** A call that asks because nothing was said of its tool. */
function asked(id: string, name = "create_issue"): Call {
  const [first] = callsOf(turnOf("approval", "turn-n")).filter((one) => one.judged?.verdict === "ask");
  if (!first?.judged) throw new Error("no such call");
  const judged = { ...first.judged, call_id: id, step: 7, rule: "it changes something", permission: "" };
  return {
    ...first,
    id,
    judged,
    spec: { ...first.spec, id, name: `tracker__${name}`, arguments: '{"title":"x"}' },
  };
}

const ISSUE = tool("tracker", "create_issue", { annotations: HARMLESS });
const DROP = tool("tracker", "drop_board", { annotations: DESTROYS });

function draw(...calls: Call[]) {
  const sent = recordRequests();
  drawOpen(<ApprovalGroup calls={calls} first={false} />, [ISSUE, DROP]);
  return sent;
}

const LARGE = '{"title":"x","channel":1234567890123456789}';

function withArguments(call: Call, json: string): Call {
  return { ...call, spec: { ...call.spec, arguments: json } };
}

/** Opens the editor by its letter, writes, and goes back to the question. */
function editAsJson(text: string): void {
  pass();
  press("e");
  pass();
  fireEvent.click(screen.getByRole("tab", { name: "JSON" }));
  fireEvent.change(screen.getByLabelText("Arguments as JSON"), { target: { value: text } });
  press("Escape");
  pass();
}

function pass(): void {
  act(() => {
    vi.advanceTimersByTime(500);
  });
}
const settle = () => act(() => vi.advanceTimersByTimeAsync(10));
const frame = () => {
  const found = document.querySelector<HTMLElement>(".ask-card");
  if (!found) throw new Error("no card");
  return found;
};
const press = (key: string, more: KeyboardEventInit = {}) => fireEvent.keyDown(frame(), { key, ...more });
const decisions = (sent: readonly Sent[]) =>
  sent.filter(({ path }) => path.endsWith("/decision")).map(({ path, body }) => ({ path, body }));

const EXPLAINED = {
  verdict: "ask",
  why: "the server's setting",
  step: 4,
  kind: "server",
  tool_class: "changes",
  enabled: true,
  outside: "",
  trace: [
    { layer: "rules", effect: "", why: "none of 3 matches", decides: false },
    { layer: "grants", effect: "", why: "none for this tool", decides: false },
    { layer: "chat", effect: "auto", why: "set for this tool in this chat", decides: false },
    {
      layer: "server",
      effect: "ask",
      why: "set for all tools",
      decides: true,
      permission_id: "server:t",
    },
    { layer: "otherwise", effect: "", why: "not reached", decides: false },
  ],
};

describe("a letter on a card", () => {
  test("allows once with A and leads to the other steps with D, E and W", () => {
    const sent = draw(asked("call-1"));
    pass();
    expect(frame().getAttribute("aria-keyshortcuts")).toBe("A D E W");
    press("e");
    expect(screen.getByText("Edit arguments")).toBeTruthy();
    press("Escape");
    pass();
    press("d");
    expect(screen.getByRole("heading", { name: "Deny Create issue?" })).toBeTruthy();
    press("Escape");
    pass();
    press("a");
    expect(decisions(sent)[0]?.body).toMatchObject({ decision: "allow", scope: "once" });
  });

  test.each([
    ["in its first 400 ms", () => press("a")],
    ["with a modifier", () => (pass(), press("a", { ctrlKey: true }))],
    ["held down", () => (pass(), press("a", { repeat: true }))],
    [
      "from a button",
      () => (pass(), fireEvent.keyDown(screen.getByRole("button", { name: "Edit" }), { key: "a" })),
    ],
    ["while letters are off", () => (act(() => setPreference("singleKeys", false)), pass(), press("a"))],
  ])("does nothing %s", (_, attempt) => {
    const sent = draw(asked("call-1"));
    attempt();
    expect(decisions(sent)).toEqual([]);
  });

  test("does nothing from a text field of the card", () => {
    const sent = draw(asked("call-1"));
    pass();
    press("d");
    pass();
    fireEvent.keyDown(screen.getByLabelText(/Reason for the model/), { key: "a" });
    expect(decisions(sent)).toEqual([]);
  });

  test("waits again after a step, so that a second press meant for the first does nothing", () => {
    const sent = draw(asked("call-1"));
    pass();
    press("d");
    press("Escape");
    press("a");
    expect(decisions(sent)).toEqual([]);
  });

  test("allows a destructive call with a second press, and says so at the first", () => {
    const sent = draw(asked("call-1", "drop_board"));
    pass();
    press("a");
    expect(decisions(sent)).toEqual([]);
    expect(screen.getByText(/destructive. Press A again to allow it once./)).toBeTruthy();
    press("a");
    expect(decisions(sent)).toEqual([]);
    pass();
    press("a");
    expect(decisions(sent)).toHaveLength(1);
  });

  test("forgets the first press when the card is left", () => {
    const sent = draw(asked("call-1", "drop_board"));
    pass();
    press("a");
    fireEvent.blur(frame());
    pass();
    press("a");
    expect(decisions(sent)).toEqual([]);
  });

  test("A sends nothing while the changes cannot be read", () => {
    const sent = draw(asked("call-1"));
    editAsJson("{unfinished");
    press("a");
    expect(decisions(sent)).toEqual([]);
  });

  test("A sends nothing twice, while the first is on its way or after", async () => {
    const sent = draw(asked("call-1"));
    pass();
    press("a");
    pass();
    press("a");
    await settle();
    pass();
    press("a");
    expect(decisions(sent)).toHaveLength(1);
  });

  test("E says why arguments with a number that would be rounded stay as they are", () => {
    const sent = draw(withArguments(asked("call-1"), LARGE));
    pass();
    press("e");
    expect(screen.queryByText("Edit arguments")).toBeNull();
    expect(screen.getByText(/a number that a browser can’t keep exactly/)).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Edit" }).disabled).toBe(true);
    expect(screen.getByLabelText("Arguments").textContent).toBe(LARGE);
    press("a");
    expect(decisions(sent)[0]?.body).not.toHaveProperty("arguments");
  });

  test("a grant for a number that would be rounded shows it as it is, and makes no condition of it", () => {
    draw(withArguments(asked("call-1"), LARGE));
    pass();
    fireEvent.click(screen.getByRole("button", { name: "Always allow…" }));
    expect(screen.queryByRole("radio", { name: "Only when" })).toBeNull();
    expect(screen.getByText(LARGE)).toBeTruthy();
  });

  test("W explains the very call, layer by layer", async () => {
    const sent = serve({
      "GET /servers": { servers: [] },
      "POST /permissions/test": EXPLAINED,
    });
    drawOpen(<ApprovalGroup calls={[asked("call-1")]} first={false} />, [ISSUE]);
    pass();
    press("w");
    await settle();
    expect(sent.find(({ path }) => path === "/permissions/test")?.body).toEqual({
      server: "server-tracker",
      tool: "create_issue",
      arguments: { title: "x" },
      conversation_id: "conv-test",
    });
    expect(screen.getByText(/“Ask” on the server is stricter than “Auto” in this chat./)).toBeTruthy();
    const layers = within(screen.getByRole("list", { name: "Layers of permissions" })).getAllByRole(
      "listitem",
    );
    expect(layers.map((one) => one.className)).toEqual(["", "", "", "win", ""]);
  });
});

test.each([
  ['{"id":9007199254740993}', '{"id":9007199254740993}'],
  ['{"ratio": 0.1000000000000000055}', '{"ratio": 0.1000000000000000055}'],
  ["", "{}"],
])("arguments written as %s are explained as %s, to the last digit", async (written, explained) => {
  const sent = serve({ "GET /servers": { servers: [] }, "POST /permissions/test": EXPLAINED });
  drawOpen(<ApprovalGroup calls={[withArguments(asked("call-1"), written)]} first={false} />, [ISSUE]);
  pass();
  press("w");
  await settle();
  expect(sent.find(({ path }) => path === "/permissions/test")?.text).toContain(`"arguments":${explained}}`);
});

describe("several calls", () => {
  test("are one card with a row each, of which J and K open the next and the previous", () => {
    draw(asked("call-1"), asked("call-2", "drop_board"));
    pass();
    expect(screen.getByRole("heading", { name: "2 calls need your approval" })).toBeTruthy();
    const open = () =>
      screen.getAllByRole("button", { expanded: true }).map((one) => one.querySelector(".nn")?.textContent);
    expect(open()).toEqual(["1"]);
    press("j");
    expect(open()).toEqual(["2"]);
    press("k");
    expect(open()).toEqual(["1"]);
  });

  test("are allowed together only by a second press below their names, and never the destructive one", async () => {
    const sent = draw(asked("call-1"), asked("call-2", "drop_board"), asked("call-3"));
    pass();
    expect(screen.getByText("Destructive calls are decided one by one.")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Allow 2 once…" }));
    expect(decisions(sent)).toEqual([]);
    const list = within(screen.getByRole("group", { name: "Allow 2 calls once?" }));
    expect(list.getAllByRole("listitem").map((one) => one.textContent)).toEqual([
      "Create issue on tracker",
      "Create issue on tracker",
    ]);
    pass();
    fireEvent.click(list.getByRole("button", { name: "Allow these 2 once" }));
    await settle();
    expect(decisions(sent).map(({ path }) => path)).toEqual([
      expect.stringContaining("call-1"),
      expect.stringContaining("call-3"),
    ]);
  });

  test("are not allowed together with one that is being denied", () => {
    draw(asked("call-1"), asked("call-2"), asked("call-3"));
    pass();
    press("d");
    expect(screen.getByRole("button", { name: "Allow 2 once…" })).toBeTruthy();
  });

  test("are not allowed together with one that was sent", async () => {
    draw(asked("call-1"), asked("call-2"), asked("call-3"));
    pass();
    press("a");
    await settle();
    expect(screen.getByRole("button", { name: "Allow 2 once…" })).toBeTruthy();
  });

  test("wait again when another comes under the button that allows them", () => {
    const sent = recordRequests();
    const card = (...calls: Call[]) => <ApprovalGroup calls={calls} first={false} />;
    const open = { store: new ConversationStore("conv-test"), naming: namingFrom([ISSUE]), toolsKnown: true };
    const shown = (...calls: Call[]) => <OpenConversation value={open}>{card(...calls)}</OpenConversation>;
    const { rerender } = render(shown(asked("call-1"), asked("call-2")));
    pass();
    fireEvent.click(screen.getByRole("button", { name: "Allow 2 once…" }));
    pass();
    frame().blur();
    rerender(shown(asked("call-1"), asked("call-2"), asked("call-3")));
    fireEvent.click(screen.getByRole("button", { name: "Allow these 3 once" }));
    expect(decisions(sent)).toEqual([]);
    expect(document.activeElement).toBe(document.body);
  });

  test("show in a closed row what is sent, with the person's changes", () => {
    draw(asked("call-1"), withArguments(asked("call-2"), LARGE));
    editAsJson('{"title":"mine"}');
    press("j");
    const rows = [...document.querySelectorAll(".ask-line .args")].map((one) => one.textContent);
    expect(rows).toEqual(["title: mine", ""]);
    press("k");
    expect(document.querySelectorAll(".ask-line .args")[1]?.textContent).toBe(LARGE);
  });

  test("with one that is not destructive cannot be allowed together, but denied", async () => {
    const sent = draw(asked("call-1"), asked("call-2", "drop_board"));
    pass();
    expect(screen.queryByRole("button", { name: /^Allow \d once/ })).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Deny all 2" }));
    await settle();
    expect(decisions(sent).map(({ body }) => body)).toMatchObject([
      { decision: "deny" },
      { decision: "deny" },
    ]);
  });

  const denyAll = async (problem: Refusal) => {
    const sent = serve({
      "POST /": ({ path }: Asked) => (path.includes("call-1") ? problem : {}),
      "GET /": { servers: [], rules: [], operator_rules: [] },
    });
    const calls = ["call-1", "call-2", "call-3"].map((id) => asked(id));
    drawOpen(<ApprovalGroup calls={calls} first={false} />, [ISSUE]);
    pass();
    fireEvent.click(screen.getByRole("button", { name: "Deny all 3" }));
    await settle();
    return decisions(sent).map(({ path }) => path.split("/").at(-2));
  };

  test("are denied to the last one, though the first was decided in another window", async () => {
    const denied = await denyAll(
      new Refusal(409, { code: "not_waiting", message: "This call does not wait for approval." }),
    );
    expect(denied).toEqual(["call-1", "call-2", "call-3"]);
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("are not denied further once one of them fails, which is said", async () => {
    expect(
      await denyAll(new Refusal(503, { code: "store_unavailable", message: "The disk is full." })),
    ).toEqual(["call-1"]);
    expect(screen.getByRole("alert").textContent).toBe("The disk is full.");
  });

  test("keep what was typed for one while another is looked at", () => {
    draw(asked("call-1"), asked("call-2"));
    pass();
    press("d");
    fireEvent.change(screen.getByLabelText(/Reason for the model/), { target: { value: "Not yet" } });
    pass();
    press("j");
    expect(screen.queryByLabelText(/Reason for the model/)).toBeNull();
    pass();
    press("k");
    expect(screen.getByLabelText<HTMLTextAreaElement>(/Reason for the model/).value).toBe("Not yet");
  });
});
