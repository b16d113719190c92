import { tools } from "../api";
import { useOpen } from "../conversation/context";
import { toolsOf } from "../conversation/toolbox";
import { useVerb } from "../conversation/useVerb";
import { Button } from "../parts";
import { CardInside } from "./AskCard";
import { StepFoot } from "./StepFoot";
import type { StepProps } from "./steps";

/** The reason, if any, goes to the model. */
export function DenyStep({ call, named, busy, error, drafts, keep, decide, back }: StepProps) {
  const { store } = useOpen();
  const setting = useVerb();
  const { reason = "" } = drafts;
  const { tool } = named;
  const deny = () => decide({ decision: "deny", scope: "once", reason: reason.trim() });
  const denyFromNowOn = async () => {
    const set = () => tools.enable(store.id, named.serverId, tool?.tool_name ?? "", "deny");
    if (!(await setting.run(set))) return;
    deny();
    await toolsOf(store.id).refresh();
  };
  const off = busy || setting.busy;
  return (
    <CardInside
      error={setting.error || error}
      foot={
        <StepFoot busy={off} back={back}>
          <Button look="primary" disabled={off} onClick={deny}>
            Deny this call
          </Button>
          {tool && (
            <Button disabled={off} onClick={() => void denyFromNowOn()}>
              Deny in this chat
            </Button>
          )}
        </StepFoot>
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
          onChange={(event) => keep({ reason: event.target.value })}
        />
      </div>
    </CardInside>
  );
}
