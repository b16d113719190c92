import { useState } from "react";

import { neededText } from "../conversation/labels";
import { useOpen } from "../conversation/context";
import { nameCall, type Named } from "../conversation/toolbox";
import type { Call } from "../state";
import { ApprovalItem } from "./ApprovalItem";
import { CardFrame, Key, type CardKeys } from "./AskCard";
import { changesIn, mayEdit } from "./changes";
import { GroupFoot, mayGoTogether } from "./GroupFoot";
import { needsCare, questionOf, type Step } from "./steps";
import { useApprovals } from "./useApprovals";
import { WaitingTime } from "./WaitingTime";

interface Props {
  /** Those of one round that need approval, in the order they were asked. */
  calls: readonly Call[];
  /** Whether it may take the focus when it begins to wait. */
  first: boolean;
}

/** What needs approval before it is sent. Nobody is asked before the tools' own claims are at hand. */
export function ApprovalGroup({ calls, first }: Props) {
  const { toolsKnown } = useOpen();
  if (!toolsKnown || calls.length === 0) return null;
  return <Group calls={calls} first={first} />;
}

/** One card for all of them: a row each, the focused one open. One call alone has the card to itself. */
function Group({ calls, first }: Props) {
  const { naming } = useOpen();
  const [picked, setPicked] = useState({ id: "", index: 0 });
  const [armed, setArmed] = useState("");
  const [listing, setListing] = useState(false);
  const approvals = useApprovals();
  const found = calls.findIndex((call) => call.id === picked.id);
  const index = found >= 0 ? found : Math.min(picked.index, calls.length - 1);
  const call = calls[index];
  if (!call) return null;
  const several = calls.length > 1;
  const named = nameCall(naming, call);
  const item = approvals.of(call);
  const allowable = calls
    .map((one): [Call, Named] => [one, nameCall(naming, one)])
    .filter(([one, its]) => mayGoTogether(one, its, approvals));
  const listed = listing && allowable.length > 1;
  const go = (step: Step) => {
    setArmed("");
    approvals.change(call, { step });
  };
  const open = (next: number) => {
    const at = (next + calls.length) % calls.length;
    setPicked({ id: calls[at]?.id ?? "", index: at });
    setArmed("");
  };
  const allow = () => {
    // a letter does no more than its button, which is off then
    if (approvals.busy || item.sent || !changesIn(call, named, item.drafts.edit).valid) return;
    if (needsCare(named) && armed !== call.id) setArmed(call.id);
    else void approvals.decide(call, named, { decision: "allow", scope: "once" });
  };
  const keys: CardKeys = {
    ...(item.step === "ask" &&
      !listed && {
        a: allow,
        d: () => go("deny"),
        e: () => mayEdit(call) && go("edit"),
        w: () => approvals.change(call, { explained: !item.explained }),
      }),
  };
  const moves: CardKeys = several && !listed ? { j: () => open(index + 1), k: () => open(index - 1) } : {};
  const back = listed ? () => setListing(false) : item.step === "ask" ? undefined : () => go("ask");
  return (
    <CardFrame
      callId={calls[0]?.id ?? ""}
      icon={item.step === "always" && !several ? "shield" : "person"}
      question={several ? neededText(calls.length) : questionOf(item.step, named)}
      named={several ? null : named}
      aside={<Aside calls={calls} several={several} />}
      first={first}
      moment={`${call.id} ${item.step} ${listed ? "all" : ""}`}
      stakes={[armed, ...allowable.map(([one]) => one.id)].join(" ")}
      back={back}
      keys={keys}
      moves={moves}
      onLeave={() => setArmed("")}
    >
      {several ? (
        calls.map((one, n) => (
          <ApprovalItem
            key={one.id}
            call={one}
            index={n}
            count={calls.length}
            open={one === call}
            onOpen={() => open(n)}
            armed={armed === one.id}
            approvals={approvals}
            go={go}
          />
        ))
      ) : (
        <ApprovalItem
          key={call.id}
          call={call}
          open
          armed={armed === call.id}
          approvals={approvals}
          go={go}
        />
      )}
      {several && (
        <GroupFoot
          calls={calls}
          allowable={allowable}
          approvals={approvals}
          listed={listed}
          onList={setListing}
        />
      )}
    </CardFrame>
  );
}

function Aside({ calls, several }: { calls: readonly Call[]; several: boolean }) {
  return (
    <>
      {several && (
        <span className="moves" aria-hidden="true">
          <Key letter="J" /> <Key letter="K" /> move
        </span>
      )}
      <WaitingTime since={Math.min(...calls.map((call) => call.askedAt))} />
    </>
  );
}
