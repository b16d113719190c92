import { useState, type ReactNode } from "react";

import { calls as callVerbs, type Decision } from "../api";
import { Link, paths } from "../app/router";
import { useResource } from "../app/resource";
import { ruleList, serverList } from "../app/resources";
import { Button, Icon, Tag } from "../parts";
import { readUntrusted, type Call, type Turn } from "../state";
import { useOpen } from "../conversation/context";
import { KeyValues } from "../conversation/KeyValues";
import { nameCall, type Named } from "../conversation/toolbox";
import { useVerb } from "../conversation/useVerb";
import { ruleOf, ruleText } from "../conversation/labels";
import { AlwaysCard } from "./AlwaysCard";
import { AskCard } from "./AskCard";
import { DenyCard } from "./DenyCard";
import { EditCard } from "./EditCard";
import { WaitingTime } from "./WaitingTime";

interface Props {
  call: Call;
  turn: Turn;
  first: boolean;
}

type Step = "ask" | "edit" | "deny" | "always";

export interface StepProps {
  call: Call;
  named: Named;
  first: boolean;
  error: ReactNode;
  busy: boolean;
  decide: (decision: Decision) => void;
  back: () => void;
  deny: () => void;
}

/** A call that needs a person's word before it is sent. Nobody is asked before the tool's own claims are at hand. */
export function ApprovalCard({ call, turn, first }: Props) {
  const { store, naming, toolsKnown } = useOpen();
  const [step, setStep] = useState<Step>("ask");
  const { run, busy, error, code } = useVerb();
  const named = nameCall(naming, call);
  const hash = call.judged?.tool_hash;
  const decide = (decision: Decision) =>
    void run(() => {
      store.own(call.id);
      return callVerbs.decide(call.turnId, call.id, hash ? { ...decision, hash } : decision);
    });
  const shared: StepProps = {
    call,
    named,
    first: first && step === "ask",
    error: code === "tool_changed" ? <ChangedTool /> : error,
    busy,
    decide,
    back: () => setStep("ask"),
    deny: () => setStep("deny"),
  };
  if (!toolsKnown) return null;
  if (step === "edit") return <EditCard {...shared} />;
  if (step === "deny") return <DenyCard {...shared} />;
  if (step === "always") return <AlwaysCard {...shared} />;
  return <Question {...shared} turn={turn} onStep={setStep} />;
}

function ChangedTool() {
  return (
    <>
      The tool changed while this waited. Look at the change before you decide.{" "}
      <Link href={paths.servers}>Look at the change</Link>
    </>
  );
}

function Question({ turn, onStep, ...props }: StepProps & { turn: Turn; onStep: (step: Step) => void }) {
  const { call, named, busy, decide } = props;
  const hints = named.tool?.annotations;
  const destructive = hints?.destructiveHint === true;
  const eachTime = readUntrusted(turn) && hints?.openWorldHint !== false;
  return (
    <AskCard
      callId={call.id}
      icon="person"
      question={`Allow ${named.title}?`}
      server={named.server}
      time={<WaitingTime since={call.askedAt} />}
      first={props.first}
      error={props.error}
      foot={
        <>
          <Button
            look={destructive ? "plain" : "primary"}
            disabled={busy}
            onClick={() => decide({ decision: "allow", scope: "once" })}
          >
            Allow once
          </Button>
          <Button disabled={busy} onClick={() => decide({ decision: "allow", scope: "conversation" })}>
            Allow in this chat
          </Button>
          {!eachTime && (
            <Button disabled={busy} onClick={() => onStep("always")}>
              Always allow…
            </Button>
          )}
          <span className="grow" />
          <Button look="ghost" icon="write" disabled={busy} onClick={() => onStep("edit")}>
            Edit arguments
          </Button>
          <Button disabled={busy} onClick={() => onStep("deny")}>
            Deny…
          </Button>
        </>
      }
    >
      <KeyValues json={call.spec.arguments} />
      {eachTime && (
        <p className="note">
          <Icon name="shield" />
          <span>This turn has read pages from the web, so this call asks each time.</span>
        </p>
      )}
      <Facts call={call} named={named} />
    </AskCard>
  );
}

/** Why the person is asked, what the server claims, the exact name. */
function Facts({ call, named }: { call: Call; named: Named }) {
  const rule = useRule(call.judged?.rule ?? "");
  return (
    <dl className="facts">
      <dt>Why you are asked</dt>
      <dd>
        {rule.number && <span>Rule {rule.number}</span>}
        {rule.number && rule.text && <code>{rule.text}</code>}
        {rule.name && <span>“{rule.name}”</span>}
        {!rule.number && !rule.name && (
          <span>{sentenceOf(rule.text || call.judged?.reason || "this tool asks each time")}</span>
        )}
        {rule.number && <Link href={paths.settings}>Open rule</Link>}
      </dd>
      <dt>Claimed by server</dt>
      <dd>
        <Claims named={named} />
      </dd>
      <dt>Exact name</dt>
      <dd>
        <code>{call.spec.name}</code>
      </dd>
    </dl>
  );
}

interface Asking {
  number: string;
  text: string;
  /** What the person who wrote the rule called it. */
  name: string;
}

/** The rule that asked, by its number or by the name it was given. */
function useRule(stated: string): Asking {
  const rules = useResource(ruleList).value ?? [];
  const { number, text } = ruleOf(stated);
  const index = number ? Number(number) - 1 : rules.findIndex(({ name }) => name !== "" && name === stated);
  const written = rules[index];
  if (!written) return { number, text, name: "" };
  return { number: String(index + 1), text: text && number ? text : ruleText(written), name: written.name };
}

function Claims({ named }: { named: Named }) {
  const trusted = useResource(serverList).value?.find((server) => server.slug === named.server)?.trusted;
  const hints = named.tool?.annotations;
  if (!hints) return <span className="dim">nothing; the server is not running now</span>;
  const claims = [
    hints.readOnlyHint === undefined ? "" : hints.readOnlyHint ? "only reads" : "changes data",
    hints.destructiveHint === undefined ? "" : hints.destructiveHint ? "destructive" : "not destructive",
    hints.openWorldHint === undefined ? "" : hints.openWorldHint ? "reaches outside" : "stays inside",
  ].filter(Boolean);
  return (
    <>
      {claims.map((claim) => (
        <Tag key={claim}>{claim}</Tag>
      ))}
      {claims.length === 0 && <span>nothing</span>}
      <span className="dim">
        not checked; {named.server} is {trusted ? "trusted" : "not trusted"}
      </span>
    </>
  );
}

function sentenceOf(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
