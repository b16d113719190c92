import { useState } from "react";

import { turns } from "../../api";
import { CopyButton, Icon, PlacedBar, Problem, Skeleton, Tag, grouped } from "../../parts";
import type { Round, Turn } from "../../state";
import { useLoaded } from "../useLoaded";
import { JsonText } from "./JsonText";
import { otherFields, promptParts, sumOf, type Body, type Mark, type PromptPart } from "./promptParts";

interface Props {
  turn: Turn;
  round: Round | undefined;
  request: number;
}

/** The exact request, message by message. */
export function PromptSent({ turn, round, request }: Props) {
  const { value, error, again } = useLoaded(`${turn.id} ${request}`, () => turns.prompt(turn.id, request));
  if (error) return <Problem what="Couldn’t load the request." error={error} onAgain={again} />;
  if (!value) return <Skeleton label="Loading request…" rows={4} row={36} />;
  const parts = promptParts(value.body, turn, round);
  const counted = (round?.reply.usage?.prompt ?? 0) > 0;
  const most = Math.max(1, ...parts.map((part) => part.tokens));
  return (
    <>
      <div className="msgs">
        {parts.map((part) => (
          <Part key={part.id} part={part} most={most} />
        ))}
        <OtherFields body={value.body} />
      </div>
      <div className="call-foot">
        <span className="num">
          Request {value.request} of {value.requests}, {grouped(sumOf(parts))} tokens.{" "}
          {value.moved.length > 0 &&
            `The provider’s cache cannot go on from the request before (${causes(value.moved)}). `}
          {counted ? "The sum is the provider’s, the parts are estimated." : "Estimated from the length."}
        </span>
        <span className="links">
          <CopyButton text={() => JSON.stringify(value.body, null, 2)} />
        </span>
      </div>
    </>
  );
}

const CAUSES: Record<string, string> = {
  loaded: "tools were added to the list",
  tools: "other tools",
  model: "another model",
  trimmed: "a shorter history",
  deleted: "a deleted message",
  system_prompt: "another system prompt",
};

function causes(moved: readonly string[]): string {
  return moved.map((cause) => CAUSES[cause] ?? cause).join(", ");
}

function Part({ part, most }: { part: PromptPart; most: number }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="msg">
      <button type="button" className="msg-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} />
        <span className="role">{part.role}</span>
        <span className="txt cut">{part.summary}</span>
        <Marks marks={part.marks} />
        <span className="tok">
          <PlacedBar size={part.tokens / most} />
          <span>
            {grouped(part.tokens)}
            <span className="vh"> tokens</span>
          </span>
        </span>
      </button>
      {open && <PartBody part={part} most={most} />}
    </div>
  );
}

function PartBody({ part, most }: { part: PromptPart; most: number }) {
  if (part.inside.length > 0)
    return (
      <div className="msg-inside">
        {part.inside.map((inner) => (
          <Part key={inner.id} part={inner} most={most} />
        ))}
      </div>
    );
  return (
    <div className="msg-body">
      <div className="pre wrap tall" tabIndex={0} aria-label={`${part.role}, the exact text`}>
        {part.role === "tools" ? (
          <JsonText text={part.text} />
        ) : (
          part.text || <span className="c">(empty)</span>
        )}
      </div>
      <div className="call-foot">
        <span className="num">{[`${grouped(part.chars)} characters`, ...part.marks].join(", ")}</span>
        <span className="links">
          <CopyButton text={part.text} />
        </span>
      </div>
    </div>
  );
}

const SHORT: Partial<Record<Mark, string>> = { "partly cached": "part cached" };

function Marks({ marks }: { marks: readonly Mark[] }) {
  return (
    <span className="marks">
      {marks.map((mark) => (
        <Tag key={mark}>{SHORT[mark] ?? mark}</Tag>
      ))}
    </span>
  );
}

function OtherFields({ body }: { body: Body }) {
  const [open, setOpen] = useState(false);
  const fields = otherFields(body);
  if (fields.length === 0) return null;
  return (
    <div className="msg">
      <button type="button" className="msg-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} />
        <span className="role">settings</span>
        <span className="txt cut">{fields.map(([name, value]) => `${name} ${plain(value)}`).join(", ")}</span>
        <span className="marks" />
        <span className="tok" />
      </button>
      {open && (
        <div className="msg-body">
          <div className="pre wrap">
            <JsonText text={JSON.stringify(Object.fromEntries(fields), null, 2)} />
          </div>
        </div>
      )}
    </div>
  );
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
