import { useState, type ReactNode } from "react";

import { calls as callVerbs, type Decision } from "../api";
import { Link, paths } from "../app/router";
import { Button, Icon, LinkButton, plural } from "../parts";
import type { Call } from "../state";
import { useOpen } from "../conversation/context";
import { KeyValues } from "../conversation/KeyValues";
import { nameCall, type Named } from "../conversation/toolbox";
import { useVerb } from "../conversation/useVerb";
import { AlwaysCard, type GrantDraft } from "./AlwaysCard";
import { AskCard } from "./AskCard";
import { DenyCard } from "./DenyCard";
import { EditCard, changesIn, type EditDraft } from "./EditCard";
import { Facts } from "./Facts";
import { WaitingTime } from "./WaitingTime";
import { whyOf } from "./why";

interface Props {
  call: Call;
  first: boolean;
}

type Step = "ask" | "edit" | "deny" | "always";

/** What was typed in each step. Going back keeps it. */
export interface Drafts {
  edit?: EditDraft | undefined;
  reason?: string;
  grant?: GrantDraft;
}

export interface StepProps {
  call: Call;
  named: Named;
  /** Whether it may take the focus when it begins to wait. */
  first: boolean;
  /** Whether the person came here from another step. */
  stepped: boolean;
  error: ReactNode;
  busy: boolean;
  drafts: Drafts;
  keep: (drafts: Drafts) => void;
  decide: (decision: Decision) => void;
  back: () => void;
  deny: () => void;
}

/** A call that needs approval before it is sent. Nobody is asked before the tool's own claims are at hand. */
export function ApprovalCard({ call, first }: Props) {
  const { store, naming, toolsKnown } = useOpen();
  const [step, setStep] = useState<Step>("ask");
  const [stepped, setStepped] = useState(false);
  const [drafts, setDrafts] = useState<Drafts>({});
  const { run, busy, error, code } = useVerb();
  const hash = call.judged?.tool_hash;
  const decide = (decision: Decision) =>
    void run(() => {
      store.own(call.id);
      return callVerbs.decide(call.turnId, call.id, hash ? { ...decision, hash } : decision);
    });
  const go = (next: Step) => {
    setStep(next);
    setStepped(true);
  };
  const shared: StepProps = {
    call,
    named: nameCall(naming, call),
    first: first && !stepped,
    stepped,
    error: code === "tool_changed" ? <ChangedTool /> : error,
    busy,
    drafts,
    keep: (more) => setDrafts({ ...drafts, ...more }),
    decide,
    back: () => go("ask"),
    deny: () => go("deny"),
  };
  if (!toolsKnown) return null;
  if (step === "edit") return <EditCard {...shared} />;
  if (step === "deny") return <DenyCard {...shared} />;
  if (step === "always") return <AlwaysCard {...shared} />;
  return <Question {...shared} onStep={go} />;
}

function ChangedTool() {
  return (
    <>
      The tool changed while this waited. Look at the change before you decide.{" "}
      <Link href={paths.servers}>Look at the change</Link>
    </>
  );
}

function Question({ onStep, ...props }: StepProps & { onStep: (step: Step) => void }) {
  const { call, named, busy, decide } = props;
  const destructive = named.tool?.annotations.destructiveHint === true;
  const why = whyOf(call, named.server);
  return (
    <AskCard
      callId={call.id}
      icon="person"
      question={`Allow ${named.title}?`}
      named={named}
      time={<WaitingTime since={call.askedAt} />}
      first={props.first}
      stepped={props.stepped}
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
          {why.grantable && (
            <>
              <Button disabled={busy} onClick={() => decide({ decision: "allow", scope: "conversation" })}>
                Allow in this chat
              </Button>
              <Button disabled={busy} onClick={() => onStep("always")}>
                Always allow…
              </Button>
            </>
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
      <UnsentChanges {...props} onShow={() => onStep("edit")} />
      <Facts call={call} named={named} why={why}>
        {why.ofServer && named.server && (
          <Button
            small
            disabled={busy}
            onClick={() => decide({ decision: "allow", scope: "conversation", covers: "server" })}
          >
            Allow all tools of {named.server} in this chat
          </Button>
        )}
      </Facts>
    </AskCard>
  );
}

/** Changes that were typed and left: what the buttons here send is what the model wrote. */
function UnsentChanges({ call, drafts, keep, onShow }: StepProps & { onShow: () => void }) {
  const changed = changesIn(call, drafts.edit);
  if (changed === 0) return null;
  return (
    <p className="note">
      <Icon name="write" />
      <span>
        You changed {plural(changed, "argument")}, which is sent only from the editor.{" "}
        <LinkButton onClick={onShow}>Show changes</LinkButton>{" "}
        <LinkButton onClick={() => keep({ edit: undefined })}>Discard</LinkButton>
      </span>
    </p>
  );
}
