import { useState } from "react";

import type { Decision } from "../api";
import { Link, paths } from "../app/router";
import { Button, Segments, dateIn, parseJson, serverNow } from "../parts";
import type { StepProps } from "./ApprovalCard";
import { AskCard } from "./AskCard";
import { WaitingTime } from "./WaitingTime";

/** The grant as far as it is filled in. */
export interface GrantDraft {
  covers: "any" | "some" | "exactly";
  /** Arguments that must be as they are in this call. */
  bound: readonly string[];
  where: "always" | "conversation";
  until: "revoked" | "days";
}

const DAYS = 30;
const DAY_MS = 86_400_000;

/** One more step before a grant is saved: it is shown exactly, and may be bound to arguments, chat and time. */
export function AlwaysCard({ call, named, busy, error, drafts, keep, decide, back }: StepProps) {
  const [ends] = useState(() => serverNow() + DAYS * DAY_MS);
  const choices = plainArguments(call.spec.arguments);
  const draft: GrantDraft = drafts.grant ?? {
    covers: "any",
    bound: choices.map(([name]) => name),
    where: "always",
    until: "revoked",
  };
  const set = (more: Partial<GrantDraft>) => keep({ grant: { ...draft, ...more } });
  const save = () =>
    decide({
      decision: "allow",
      scope: draft.where,
      ...coverage(draft, choices),
      ...(draft.until === "days" && { expires_at: new Date(ends).toISOString() }),
    });
  return (
    <AskCard
      callId={call.id}
      icon="shield"
      question={`Always allow ${named.title}?`}
      named={named}
      time={<WaitingTime since={call.askedAt} />}
      first={false}
      stepped
      back={back}
      error={error}
      foot={
        <>
          <Button
            look="primary"
            disabled={busy || (draft.covers === "some" && draft.bound.length === 0)}
            onClick={save}
          >
            Save grant and allow
          </Button>
          <span className="grow" />
          <Button look="ghost" disabled={busy} onClick={back}>
            Back <kbd aria-hidden="true">Esc</kbd>
          </Button>
        </>
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
            {named.tool?.tool_name ?? call.spec.name}
          </code>
        </dd>
        <dt>Arguments</dt>
        <dd className="stacked">
          <Segments
            label="Arguments"
            value={draft.covers}
            onChange={(covers) => set({ covers })}
            options={[
              { value: "any", label: "Any" },
              ...(choices.length > 0 ? [{ value: "some" as const, label: "Only when" }] : []),
              { value: "exactly", label: "Exactly these" },
            ]}
          />
          {draft.covers === "some" && (
            <Conditions choices={choices} bound={draft.bound} onBound={(bound) => set({ bound })} />
          )}
          {draft.covers === "exactly" && <code className="dim">{call.spec.arguments}</code>}
        </dd>
        <dt>Where</dt>
        <dd>
          <Segments
            label="Where"
            value={draft.where}
            onChange={(where) => set({ where })}
            options={[
              { value: "always", label: "All chats" },
              { value: "conversation", label: "This chat" },
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
              { value: "revoked", label: "Revoked" },
              { value: "days", label: `${DAYS} days, ${dateIn(ends)}` },
            ]}
          />
          <span className="dim">ends at once if the tool changes</span>
        </dd>
        <dt>Still asks</dt>
        <dd className="dim">
          {draft.covers === "any" ? "where a rule says so" : "for other arguments, and where a rule says so"}
        </dd>
      </dl>
    </AskCard>
  );
}

interface ConditionsProps {
  choices: readonly [string, string][];
  bound: readonly string[];
  onBound: (bound: readonly string[]) => void;
}

function Conditions({ choices, bound, onBound }: ConditionsProps) {
  return (
    <>
      {choices.map(([name, value]) => (
        <label className="check" key={name}>
          <input
            type="checkbox"
            className="box"
            checked={bound.includes(name)}
            onChange={(event) =>
              onBound(event.target.checked ? [...bound, name] : bound.filter((one) => one !== name))
            }
          />
          <code>
            {name} is {value}
          </code>
        </label>
      ))}
    </>
  );
}

function coverage(draft: GrantDraft, choices: readonly [string, string][]): Partial<Decision> {
  if (draft.covers === "any") return { covers: "tool" };
  if (draft.covers === "exactly") return { covers: "arguments" };
  const bound = choices.filter(([name]) => draft.bound.includes(name));
  return {
    covers: "tool",
    conditions: Object.fromEntries(bound.map(([name, value]) => [name, literally(value)])),
  };
}

/** Conditions are patterns; this one fits the value alone. */
function literally(value: string): string {
  return value.replace(/[*?[]/g, "[$&]");
}

const LONGEST_SHOWN = 120;

/** Arguments short and plain enough to stand in a condition. */
function plainArguments(json: string): [string, string][] {
  const value = parseJson(json);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value)
    .filter(([, inner]) => ["string", "number", "boolean"].includes(typeof inner))
    .map(([name, inner]): [string, string] => [
      name,
      typeof inner === "string" ? inner : JSON.stringify(inner),
    ])
    .filter(([, text]) => text.length <= LONGEST_SHOWN);
}
