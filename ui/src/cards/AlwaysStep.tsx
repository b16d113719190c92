import { useState } from "react";

import { Link, paths } from "../app/router";
import { Button, Segments, dateIn, serverNow } from "../parts";
import { CardInside } from "./AskCard";
import { changesIn, mayEdit, sentBy } from "./changes";
import { Conditions } from "./Conditions";
import { Coverage } from "./Coverage";
import { bindsNothing, coverageOf, newGrant, plainArguments, type GrantDraft } from "./grant";
import { StepFoot } from "./StepFoot";
import type { StepProps } from "./steps";

const DAYS = 30;
const DAY_MS = 86_400_000;
const SHOWN_OF_HASH = 6;

/** One more step before a grant is saved: it is shown exactly, and may be bound to arguments, chat and time. */
export function AlwaysStep({ call, named, busy, error, drafts, keep, decide, back }: StepProps) {
  const [ends] = useState(() => serverNow() + DAYS * DAY_MS);
  const changes = changesIn(call, named, drafts.edit);
  const given = changes.now ?? changes.before;
  const exact = mayEdit(call); // else what was read is rounded, and no condition can be made of it
  const draft = drafts.grant ?? { ...newGrant(given), ...(!exact && { covers: "exactly" as const }) };
  const set = (more: Partial<GrantDraft>) => keep({ grant: { ...draft, ...more } });
  const tool = named.tool?.tool_name ?? call.spec.name;
  const hash = call.judged?.tool_hash ?? "";
  const nothingBound = bindsNothing(draft, given);
  const save = () =>
    decide({
      decision: "allow",
      scope: draft.where,
      ...coverageOf(draft, given),
      ...(draft.until === "days" && { expires_at: new Date(ends).toISOString() }),
    });
  return (
    <CardInside
      error={error}
      foot={
        <StepFoot busy={busy} back={back}>
          <Button disabled={busy || nothingBound} onClick={save}>
            Save grant and allow
          </Button>
        </StepFoot>
      }
    >
      <p>
        This saves one grant, exactly as below. It’s listed in{" "}
        <Link href={paths.permissions}>Permissions</Link>, where you can revoke it at any time.
      </p>
      <dl className="grant">
        <dt>Allow</dt>
        <dd>
          <code>
            {named.server ? `${named.server}.` : ""}
            {tool}
          </code>
          {hash && <span className="dim">definition {hash.replace(/^2-/, "").slice(0, SHOWN_OF_HASH)}</span>}
        </dd>
        <dt>Arguments</dt>
        <dd className="stacked">
          <Segments
            label="Arguments"
            value={draft.covers}
            onChange={(covers) => set({ covers })}
            options={[
              ...(exact && plainArguments(given).length > 0
                ? [{ value: "some" as const, label: "Only when" }]
                : []),
              { value: "exactly", label: "Exactly these" },
              { value: "any", label: "Any" },
            ]}
          />
          {draft.covers === "some" && <Conditions given={given} draft={draft} onChange={set} />}
          {draft.covers === "exactly" && <code className="dim">{sentBy(call, changes)}</code>}
        </dd>
        <dt>Where</dt>
        <dd>
          <Segments
            label="Where"
            value={draft.where}
            onChange={(where) => set({ where })}
            options={[
              { value: "conversation", label: "This chat" },
              { value: "always", label: "All chats" },
            ]}
          />
        </dd>
        <dt>Until</dt>
        <dd>
          <Segments
            label="Until"
            value={draft.until}
            onChange={(until) => set({ until })}
            options={[
              { value: "days", label: `${DAYS} days, ${dateIn(ends)}` },
              { value: "revoked", label: "Revoked" },
            ]}
          />
          <span className="dim">ends at once if the tool changes</span>
        </dd>
        <dt>Still asks</dt>
        <dd className="dim">
          {draft.covers === "any" ? "where a rule says so" : "for other arguments, and where a rule says so"}
        </dd>
      </dl>
      {named.serverId && !nothingBound && exact && (
        <Coverage server={named.serverId} tool={tool} hash={hash} draft={draft} given={given} />
      )}
    </CardInside>
  );
}
