import { useOpen } from "../conversation/context";
import { nameCall, type Named } from "../conversation/toolbox";
import { Button, Icon } from "../parts";
import type { Call } from "../state";
import { changesIn } from "./changes";
import { BackButton } from "./StepFoot";
import { needsCare } from "./steps";
import type { Approvals } from "./useApprovals";
import { whyOf } from "./why";

interface Props {
  calls: readonly Call[];
  /** Those of them that may be allowed together. */
  allowable: readonly [Call, Named][];
  approvals: Approvals;
  /** Whether the names of what would be allowed are shown, for a second press. */
  listed: boolean;
  onList: (listed: boolean) => void;
}

/** What decides several calls at once. Those that destroy, and those in doubt, are decided one by one. */
export function GroupFoot({ calls, allowable, approvals, listed, onList }: Props) {
  const { naming } = useOpen();
  const all = calls.map((call): [Call, Named] => [call, nameCall(naming, call)]);
  const { busy } = approvals;
  const several = allowable.length > 1;
  const allow = () => void approvals.decideAll(allowable, { decision: "allow", scope: "once" });
  if (listed && several)
    return (
      <div className="ask-all" role="group" aria-label={`Allow ${allowable.length} calls once?`}>
        <ol>
          {allowable.map(([call, { title, server }]) => (
            <li key={call.id}>
              <b>{title}</b> {server && `on ${server}`}
              {changed(call, approvals, naming(call.spec.name, call.judged?.server)) && ", with your changes"}
            </li>
          ))}
        </ol>
        <span className="grow" />
        <Button small disabled={busy} onClick={allow}>
          Allow these {allowable.length} once
        </Button>
        <BackButton small disabled={busy} onClick={() => onList(false)} />
      </div>
    );
  return (
    <div className="ask-all">
      {all.some(([, named]) => needsCare(named)) && (
        <span className="note">
          <Icon name="info" />
          <span>Destructive calls are decided one by one.</span>
        </span>
      )}
      <span className="grow" />
      {several && (
        <Button small disabled={busy} onClick={() => onList(true)}>
          Allow {allowable.length} once…
        </Button>
      )}
      <Button
        small
        disabled={busy}
        onClick={() => void approvals.decideAll(all, { decision: "deny", scope: "once" })}
      >
        Deny all {calls.length}
      </Button>
    </div>
  );
}

/** Not one that a person is in the midst of denying or editing, and not one that was decided already. */
export function mayGoTogether(call: Call, named: Named, approvals: Approvals): boolean {
  const { step, sent, drafts } = approvals.of(call);
  const { valid } = changesIn(call, named, drafts.edit);
  if (step !== "ask" || sent) return false;
  return !needsCare(named) && whyOf(call, named.server).asker !== "doubt" && valid;
}

function changed(call: Call, approvals: Approvals, named: Named): boolean {
  return changesIn(call, named, approvals.of(call).drafts.edit).names.length > 0;
}
