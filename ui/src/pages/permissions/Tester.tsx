import { useState } from "react";

import { errorText, permissions, servers, type PermissionVerdict } from "../../api";
import { useResource } from "../../app/resource";
import { serverList } from "../../app/resources";
import { Link, paths } from "../../app/router";
import { Banner, Button, parseJson } from "../../parts";
import { useListing } from "../../sidebar/listing";
import { AreaField, SelectField } from "../Field";
import { useLoaded } from "../useLoaded";

const VERDICTS = {
  auto: { words: "This call runs without asking.", icon: "check", tone: "plain" },
  ask: { words: "This call asks.", icon: "person", tone: "warn" },
  refuse: { words: "This call is refused.", icon: "denied", tone: "bad" },
} as const;

interface Answer {
  verdict: PermissionVerdict | null;
  error: string;
}

/** What the one function that decides says of a call that nobody makes. */
export function Tester() {
  const known = useResource(serverList).value ?? [];
  const { items } = useListing();
  const [picked, setPicked] = useState({ server: "", tool: "", chat: "" });
  const [json, setJson] = useState("{}");
  const [answer, setAnswer] = useState<Answer | null>(null);
  const server = picked.server || (known[0]?.id ?? "");
  const { value } = useLoaded(server, () => servers.tools(server));
  const names = value?.tools.map(({ name }) => name) ?? [];
  const tool = names.includes(picked.tool) ? picked.tool : (names[0] ?? "");
  const given = parseJson(json);
  const readable = typeof given === "object" && given !== null && !Array.isArray(given);
  const test = () => {
    if (!readable) return;
    permissions.test({ server, tool, arguments: given, conversation_id: picked.chat }).then(
      (verdict) => setAnswer({ verdict, error: "" }),
      (error: unknown) => setAnswer({ verdict: null, error: errorText(error) }),
    );
  };
  return (
    <form
      className="panel"
      aria-label="Why would this call ask?"
      onSubmit={(event) => {
        event.preventDefault();
        test();
      }}
    >
      <div className="panel-head">
        <h2>Why would this call ask?</h2>
      </div>
      <div className="panel-body form">
        <div className="two">
          <SelectField
            label="Server"
            value={server}
            onPick={(next) => setPicked({ ...picked, server: next, tool: "" })}
            options={known.map(({ id, slug }) => [id, slug] as const)}
          />
          <SelectField
            label="Tool"
            value={tool}
            onPick={(next) => setPicked({ ...picked, tool: next })}
            options={names.map((name) => [name, name] as const)}
          />
        </div>
        <AreaField
          label="Arguments"
          mono
          rows={3}
          value={json}
          onText={setJson}
          problem={readable ? "" : "Must be a JSON object"}
        />
        <SelectField
          label="Chat"
          value={picked.chat}
          onPick={(chat) => setPicked({ ...picked, chat })}
          options={[["", "A new chat"], ...items.map(({ id, title }) => [id, title || "Untitled"] as const)]}
        />
        <div className="panel-foot">
          <Button type="submit" disabled={!tool || !readable}>
            Test
          </Button>
        </div>
        {answer && <Verdict answer={answer} />}
      </div>
    </form>
  );
}

function Verdict({ answer: { verdict, error } }: { answer: Answer }) {
  if (!verdict)
    return (
      <p className="bad" role="alert">
        {error}
      </p>
    );
  const { words, icon, tone } = VERDICTS[verdict.verdict];
  return (
    <Banner tone={tone} icon={icon} role="status">
      <strong>{words}</strong> {sentence(verdict.why)}
      {verdict.step > 0 && ` Step ${verdict.step} of 7; the tool ${verdict.tool_class}.`}{" "}
      {verdict.permission_id && <Link href={paths.permission(verdict.permission_id)}>Show it</Link>}
    </Banner>
  );
}

function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
