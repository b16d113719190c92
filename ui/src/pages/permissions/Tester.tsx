import { useState } from "react";

import { errorText, permissions, servers, type PermissionVerdict } from "../../api";
import { useResource } from "../../app/resource";
import { serverList } from "../../app/resources";
import { Trace, Verdict } from "../../cards/Trace";
import { Button, parseJson } from "../../parts";
import { useListing } from "../../sidebar/listing";
import { AreaField, SelectField } from "../Field";
import { useLoaded } from "../useLoaded";
import { PastCalls, type PickedCall } from "./PastCalls";

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
  const [past, setPast] = useState(false);
  const server = picked.server || (known[0]?.id ?? "");
  const { value } = useLoaded(server, () => servers.tools(server));
  const names = value?.tools.map(({ name }) => name) ?? [];
  const tool = names.includes(picked.tool) ? picked.tool : (names[0] ?? "");
  const given = parseJson(json);
  const readable = typeof given === "object" && given !== null && !Array.isArray(given);
  const test = () => {
    if (!readable) return;
    permissions.test({ server, tool, conversation_id: picked.chat }, json).then(
      (verdict) => setAnswer({ verdict, error: "" }),
      (error: unknown) => setAnswer({ verdict: null, error: errorText(error) }),
    );
  };
  const use = (call: PickedCall) => {
    const found = known.find(({ slug }) => slug === call.server);
    setPicked({ server: found?.id ?? "", tool: call.tool, chat: call.chat });
    setJson(call.json);
    setAnswer(null);
    setPast(false);
  };
  return (
    <form
      className="panel tester"
      aria-label="Why would this call ask?"
      onSubmit={(event) => {
        event.preventDefault();
        test();
      }}
    >
      <div className="panel-head">
        <h2>Why would this call ask?</h2>
        <span className="grow" />
        <Button small look="ghost" aria-expanded={past} onClick={() => setPast(!past)}>
          Use a past call…
        </Button>
      </div>
      <div className="panel-body form">
        {past && <PastCalls onPick={use} />}
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
        {answer && <Outcome answer={answer} />}
      </div>
    </form>
  );
}

function Outcome({ answer: { verdict, error } }: { answer: Answer }) {
  if (!verdict)
    return (
      <p className="bad" role="alert">
        {error}
      </p>
    );
  return (
    <div className="explained" role="status">
      <Verdict verdict={verdict} />
      <Trace layers={verdict.trace} />
    </div>
  );
}
