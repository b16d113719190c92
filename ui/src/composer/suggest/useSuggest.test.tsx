import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";

import { Refusal, serve, type Answers, type Asked } from "../../testing/server";
import { Composer } from "../Composer";
import type { Attached } from "../attached";

const nothing = () => undefined;
const server = (slug: string) => ({ id: `id-${slug}`, slug, has_prompts: true, has_resources: true });
const greet = {
  name: "greet",
  title: "",
  description: "",
  arguments: [
    { name: "how", title: "", description: "", required: false },
    { name: "who", title: "", description: "", required: true },
  ],
};

function draw(answers: Answers): { sent: string[]; asked: Asked[]; attached: () => readonly Attached[] } {
  const sent: string[] = [];
  const asked = serve({
    "GET /servers": { servers: [server("one"), server("two")] },
    "GET /servers/id-one/prompts": { prompts: [greet], completes: true },
    "GET /servers/id-two/prompts": { prompts: [greet], completes: false },
    "GET /servers/id-one/templates": { templates: [] },
    "GET /servers/id-two/templates": { templates: [] },
    "GET /servers/id-two/resources": new Refusal(503, { code: "unavailable", message: "gone" }),
    ...answers,
  });
  let held: readonly Attached[] = [];
  function Page() {
    const [text, setText] = useState("");
    const [attached, setAttached] = useState<readonly Attached[]>([]);
    held = attached;
    return (
      <Composer
        text={text}
        onText={setText}
        attached={attached}
        onAttached={setAttached}
        tools={[]}
        onSend={() => sent.push(text)}
        onStop={nothing}
        running={false}
        busy={false}
        placeholder=""
        controls={null}
        queue={{ messages: [], take: nothing, release: nothing }}
        error=""
      />
    );
  }
  render(<Page />);
  return { sent, asked, attached: () => held };
}

test("two servers have a prompt of one name: the one that was picked is filled in, shown and not sent", async () => {
  const { sent, asked } = draw({
    "POST /servers/two/prompts/get": { text: "Greet Ada.", notes: ["A picture was left out."], messages: [] },
  });
  const user = userEvent.setup();
  const box = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  await user.type(box, "/gre");
  const found = await screen.findAllByRole("option");
  expect(found.map((one) => one.textContent)).toEqual(["greetone", "greettwo"]);
  await user.keyboard("{ArrowDown}{Enter}");
  const form = screen.getByRole("group", { name: "Arguments of greet" });
  expect([...form.querySelectorAll("label")].map((label) => label.textContent)).toEqual([
    "who ",
    "how optional",
  ]);
  await user.type(screen.getByLabelText(/^who/), "Ada{Enter}");
  await waitFor(() => expect(box.value).toBe("Greet Ada. "));
  expect(screen.getByText("A picture was left out.")).toBeTruthy();
  expect(asked.at(-1)?.body).toEqual({ name: "greet", arguments: { who: "Ada" } });
  expect(sent).toEqual([]);
});

test("a picked resource goes with the message and out of its text; a server that fails hides none", async () => {
  const odd = { uri: "doc://ü/<b>", name: "odd", title: "", description: "", mime: "", size: null };
  const { attached } = draw({ "GET /servers/id-one/resources": { resources: [odd] } });
  const user = userEvent.setup();
  const box = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  await user.type(box, "Look at @o");
  await user.click(await screen.findByRole("option"));
  expect(box.value).toBe("Look at ");
  expect(attached()).toEqual([{ server: "one", uri: odd.uri }]);
  await user.click(screen.getByRole("button", { name: `Remove ${odd.uri}` }));
  expect(attached()).toEqual([]);
});

test("Escape closes the list and Enter sends; what the demo model takes as a command is never a prompt", async () => {
  const { sent } = draw({});
  const user = userEvent.setup();
  const box = screen.getByRole("textbox", { name: "Message" });
  await user.type(box, "/gre");
  await screen.findAllByRole("option");
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("listbox")).toBeNull();
  await user.keyboard("{Enter}");
  await user.clear(box);
  await user.type(box, "/calculate expression=6*7{Enter}");
  expect(sent).toEqual(["/gre", "/calculate expression=6*7"]);
});
