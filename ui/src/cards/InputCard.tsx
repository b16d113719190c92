import { useState } from "react";

import { calls as callVerbs } from "../api";
import { SchemaForm } from "../form/SchemaForm";
import { defaultsOf, fieldsOf, problemOf, type Values } from "../form/schema";
import { Button, Icon, parseJson } from "../parts";
import { OutLink } from "../prose/Prose";
import type { Call, InputNeeded, JsonSchema } from "../state";
import { useOpen } from "../conversation/context";
import { nameCall } from "../conversation/toolbox";
import { useVerb } from "../conversation/useVerb";
import { AskCard } from "./AskCard";
import { WaitingTime } from "./WaitingTime";

/** A server asks the person something in the middle of a call. Its words are shown as its own. */
export function InputCard({ call, input, first }: { call: Call; input: InputNeeded; first: boolean }) {
  const { naming, store } = useOpen();
  const named = nameCall(naming, call);
  const { run, busy, error } = useVerb();
  const [fields] = useState(() => fieldsOf(schemaOf(input.schema)));
  const [values, setValues] = useState<Values>(() => defaultsOf(fields));
  const [tried, setTried] = useState(false);
  const valid = fields.every((field) => !problemOf(field, values[field.name]));
  const answer = async (action: "accept" | "decline" | "cancel") => {
    setTried(true);
    if (action === "accept" && !valid) return;
    const content = action === "accept" ? values : undefined;
    const sent = await run(() => callVerbs.answer(call.turnId, call.id, action, content));
    if (sent) store.put({ type: "input_sent", turn_id: call.turnId, call_id: call.id, asked_at: input.at });
  };
  const stop = () => run(() => callVerbs.stop(call.turnId, call.id));
  return (
    <AskCard
      callId={call.id}
      icon="person"
      question={`${named.title} asks you for details`}
      named={named}
      aside={<WaitingTime since={Date.parse(input.at)} />}
      first={first}
      error={error}
      foot={
        <>
          <Button look="primary" disabled={busy} onClick={() => answer("accept")}>
            Send answers
          </Button>
          <Button disabled={busy} onClick={() => answer("decline")}>
            Decline
          </Button>
          <span className="grow" />
          <Button look="ghost" icon="stop" disabled={busy} onClick={stop}>
            Stop this call
          </Button>
        </>
      }
    >
      <div className="quote">
        {input.message}
        {input.url && (
          <p>
            <OutLink href={input.url}>{input.url}</OutLink>
          </p>
        )}
      </div>
      <SchemaForm fields={fields} values={values} onChange={setValues} tried={tried} />
      <p className="note">
        <Icon name="shield" />
        <span>These questions come from the server, shown as sent. Never enter a password or key here.</span>
      </p>
    </AskCard>
  );
}

function schemaOf(text: string): JsonSchema {
  const value = parseJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
