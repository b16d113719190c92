import { useState } from "react";

import { Badge, CopyButton, duration, grouped, Segments, Tag } from "../../parts";
import { roundNumber, type DurableEvent, type Turn } from "../../state";
import { CallSent, CallResult } from "./CallDetail";
import { EventRows } from "./EventRows";
import { rowsOf } from "./rows";
import { lookLabel } from "./marks";
import { PromptSent } from "./PromptSent";
import { RawReply, replyName } from "./RawReply";
import { WaitDetail } from "./WaitDetail";
import { requestOf, type Span } from "./spans";

interface Props {
  span: Span;
  turn: Turn;
  rows: readonly DurableEvent[];
}

type View = "prompt" | "reply" | "sent" | "result" | "wait" | "events";

/** The selected step: what went out, what came back, what was recorded. */
export function SpanDetail({ span, turn, rows }: Props) {
  const views = viewsOf(span);
  const [view, setView] = useState<View>(views[0] ?? "events");
  const own = rowsOf(span, turn, rows);
  return (
    <section className="insp-detail" aria-label={span.title}>
      <div className="insp-title">
        <h3>{span.title}</h3>
        <Facts span={span} turn={turn} />
        <span className="grow" />
        <CopyButton text={() => JSON.stringify(own, null, 2)} label="Copy this step as JSON" />
      </div>
      <Segments
        kind="tabs"
        className="tabs"
        label={span.title}
        value={view}
        onChange={setView}
        options={views.map((value) => ({
          value,
          label: <Label view={value} span={span} turn={turn} events={own.length} />,
        }))}
      />
      <div role="tabpanel" aria-label={nameOf(view, span, turn)} className="insp-panel">
        <Panel view={view} span={span} turn={turn} rows={rows} own={own} />
      </div>
    </section>
  );
}

const WORDS: Record<Exclude<View, "reply">, string> = {
  prompt: "Prompt sent",
  sent: "Arguments sent",
  result: "Result",
  wait: "Your decision",
  events: "Events",
};

function nameOf(view: View, span: Span, turn: Turn): string {
  return view === "reply" ? replyName(turn.rounds[span.round - 1]) : WORDS[view];
}

function viewsOf(span: Span): View[] {
  if (span.kind === "model") return ["prompt", "reply", "events"];
  return span.kind === "tool" ? ["sent", "result", "events"] : ["wait", "events"];
}

function Label({ view, span, turn, events }: { view: View; span: Span; turn: Turn; events: number }) {
  const repaired = span.repairs > 0 && (view === "reply" || view === "sent");
  return (
    <>
      {nameOf(view, span, turn)}
      {repaired && (
        <Tag icon="wrench">
          {span.repairs}
          <span className="vh"> repairs</span>
        </Tag>
      )}
      {view === "events" && <span className="count">{events}</span>}
    </>
  );
}

function Facts({ span, turn }: { span: Span; turn: Turn }) {
  if (span.kind !== "model") {
    const took = span.took === null ? "" : ` · ${duration(span.took)}`;
    return (
      <span className="dim num">
        {lookLabel(span.look)}
        {took} · round {roundNumber(turn, span.round)}
      </span>
    );
  }
  const reply = turn.rounds[span.round - 1]?.reply;
  const model = reply?.model || turn.settings.model;
  return (
    <>
      {model && <Badge>{model}</Badge>}
      <span className="dim num">{reply ? replyFacts(reply) : span.live ? "being written" : "no reply"}</span>
    </>
  );
}

function replyFacts({
  first_ms: first,
  usage,
}: {
  first_ms?: number;
  usage?: Turn["rounds"][0]["reply"]["usage"];
}) {
  const facts = [
    first ? `first token ${duration(first)}` : "",
    usage ? `${grouped(usage.prompt ?? 0)} in${usage.cached ? `, ${grouped(usage.cached)} cached` : ""}` : "",
    usage ? `${grouped(usage.completion ?? 0)} out` : "",
  ];
  return facts.filter(Boolean).join(" · ");
}

function Panel({ view, span, turn, rows, own }: Props & { view: View; own: DurableEvent[] }) {
  const round = turn.rounds[span.round - 1];
  const call = round?.calls.find((other) => other.id === span.callId);
  switch (view) {
    case "prompt":
      return <PromptSent turn={turn} round={round} request={requestOf(rows, round)} />;
    case "reply":
      return <RawReply round={round} failures={own.filter((row) => row.type === "model_failed")} />;
    case "sent":
      return call ? <CallSent call={call} /> : null;
    case "result":
      return call ? <CallResult call={call} /> : null;
    case "wait":
      return call ? <WaitDetail call={call} outcome={span.id.startsWith("wait-outcome")} /> : null;
    case "events":
      return <EventRows rows={own} turn={turn} />;
  }
}
