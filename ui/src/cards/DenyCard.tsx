import { useState } from "react";

import { Button } from "../parts";
import type { StepProps } from "./ApprovalCard";
import { AskCard } from "./AskCard";
import { WaitingTime } from "./WaitingTime";

/** The reason, if any, goes to the model. */
export function DenyCard({ call, named, busy, error, decide, back }: StepProps) {
  const [reason, setReason] = useState("");
  const deny = (scope: "once" | "conversation") => decide({ decision: "deny", scope, reason: reason.trim() });
  return (
    <AskCard
      callId={call.id}
      icon="person"
      question={`Deny ${named.title}?`}
      server={named.server}
      time={<WaitingTime since={call.askedAt} />}
      first={false}
      error={error}
      foot={
        <>
          <Button look="primary" disabled={busy} onClick={() => deny("once")}>
            Deny this call
          </Button>
          <Button disabled={busy} onClick={() => deny("conversation")}>
            Deny all in this chat
          </Button>
          <span className="grow" />
          <Button look="ghost" disabled={busy} onClick={back}>
            Back
          </Button>
        </>
      }
    >
      <div className="field">
        <label htmlFor={`reason-${call.id}`}>
          Reason for the model <span className="dim">optional</span>
        </label>
        <textarea
          id={`reason-${call.id}`}
          className="input"
          rows={2}
          autoFocus
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
    </AskCard>
  );
}
