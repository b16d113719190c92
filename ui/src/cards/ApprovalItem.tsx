import { argumentLine } from "../conversation/labels";
import { useOpen } from "../conversation/context";
import { nameCall } from "../conversation/toolbox";
import { Icon } from "../parts";
import type { Call } from "../state";
import { AlwaysStep } from "./AlwaysStep";
import { changesIn, sentBy } from "./changes";
import { DenyStep } from "./DenyStep";
import { EditStep } from "./EditStep";
import { QuestionStep } from "./QuestionStep";
import { ServerChip } from "./ServerChip";
import { questionOf, type Step, type StepProps } from "./steps";
import type { Approvals } from "./useApprovals";

interface Props {
  call: Call;
  open: boolean;
  armed: boolean;
  approvals: Approvals;
  go: (step: Step) => void;
  /** Of several: which it is, and how it is opened. */
  index?: number;
  count?: number;
  onOpen?: () => void;
}

/** One call of a card; of several, a row that opens. */
export function ApprovalItem({ index = 0, count = 1, open, onOpen, ...props }: Props) {
  const { naming } = useOpen();
  const { call, approvals } = props;
  const named = nameCall(naming, call);
  const { step, drafts } = approvals.of(call);
  const sent = sentBy(call, changesIn(call, named, drafts.edit));
  if (count === 1) return <Steps {...props} />;
  return (
    <div
      className={open ? "ask-item open" : "ask-item"}
      {...(open && { role: "group", "aria-label": questionOf(step, named) })}
      data-call={call.id}
    >
      <button type="button" className="ask-line" aria-expanded={open} onClick={onOpen}>
        <span className="nn">{index + 1}</span>
        <b>{step === "ask" ? named.title : questionOf(step, named)}</b>
        {named.server && <ServerChip id={named.serverId} slug={named.server} />}
        <span className="args cut">{open ? "" : argumentLine(sent)}</span>
        {open ? (
          <span className="of">
            {index + 1} of {count}
          </span>
        ) : (
          <Icon name="right" />
        )}
      </button>
      {open && <Steps {...props} />}
    </div>
  );
}

function Steps({ call, armed, approvals, go }: Omit<Props, "index" | "count" | "onOpen" | "open">) {
  const { naming } = useOpen();
  const named = nameCall(naming, call);
  const { step, drafts, explained, sent } = approvals.of(call);
  const shared: StepProps = {
    call,
    named,
    error: approvals.errorOf(call),
    busy: approvals.busy || sent,
    drafts,
    keep: (more) => approvals.keep(call, more),
    decide: (decision) => void approvals.decide(call, named, decision),
    go,
    back: () => go("ask"),
  };
  switch (step) {
    case "edit":
      return <EditStep {...shared} />;
    case "deny":
      return <DenyStep {...shared} />;
    case "always":
      return <AlwaysStep {...shared} />;
    case "ask":
      return (
        <QuestionStep
          {...shared}
          armed={armed}
          explained={explained}
          onExplain={() => approvals.change(call, { explained: !explained })}
        />
      );
  }
}
