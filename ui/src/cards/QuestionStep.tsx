import { KeyValues } from "../conversation/KeyValues";
import { Button, Icon, LinkButton, plural } from "../parts";
import { ArgumentDiff } from "./ArgumentDiff";
import { CardInside, Key } from "./AskCard";
import { changesIn, judgedBy, mayEdit } from "./changes";
import { Facts } from "./Facts";
import { needsCare, type StepProps } from "./steps";
import { whyOf } from "./why";

interface Props extends StepProps {
  /** Whether `A` was pressed once for a call that takes a second press. */
  armed: boolean;
  explained: boolean;
  onExplain: () => void;
}

/** The question itself: the arguments as they are sent, the facts, and the answers. */
export function QuestionStep(props: Props) {
  const { call, named, busy, error, drafts, decide, go } = props;
  const changes = changesIn(call, named, drafts.edit);
  const why = whyOf(call, named.server);
  const off = busy || !changes.valid;
  return (
    <CardInside
      error={error}
      foot={
        <>
          <Button
            look={needsCare(named) ? "plain" : "primary"}
            disabled={off}
            onClick={() => decide({ decision: "allow", scope: "once" })}
          >
            Allow once <Key letter="A" />
          </Button>
          {why.grantable && (
            <>
              <Button disabled={off} onClick={() => decide({ decision: "allow", scope: "conversation" })}>
                Allow in this chat
              </Button>
              <Button disabled={off} onClick={() => go("always")}>
                Always allow…
              </Button>
            </>
          )}
          <span className="grow" />
          <Button look="ghost" icon="write" disabled={busy || !mayEdit(call)} onClick={() => go("edit")}>
            Edit <Key letter="E" />
          </Button>
          <Button disabled={busy} onClick={() => go("deny")}>
            Deny… <Key letter="D" />
          </Button>
        </>
      }
    >
      {changes.names.length > 0 ? <ArgumentDiff {...changes} /> : <KeyValues json={call.spec.arguments} />}
      <ChangesNote {...props} />
      {!mayEdit(call) && <NoEditNote />}
      <Facts
        call={call}
        named={named}
        why={why}
        given={judgedBy(call, changes)}
        explained={props.explained}
        onExplain={props.onExplain}
      >
        {why.ofServer && named.server && (
          <Button
            small
            disabled={off}
            onClick={() => decide({ decision: "allow", scope: "conversation", covers: "server" })}
          >
            Allow all tools of {named.server} in this chat
          </Button>
        )}
      </Facts>
      <p className="note warn" role="status">
        {props.armed && (
          <>
            <Icon name="info" />
            <span>
              {named.tool ? "The server says this is destructive." : "The server isn’t running now."} Press A
              again to allow it once.
            </span>
          </>
        )}
      </p>
    </CardInside>
  );
}

function NoEditNote() {
  return (
    <p className="note">
      <Icon name="info" />
      <span>
        These arguments hold a number that a browser can’t keep exactly, so they can’t be edited here. Allow
        or deny the call as it is.
      </span>
    </p>
  );
}

function ChangesNote({ call, named, drafts, keep }: StepProps) {
  const { names, valid, now } = changesIn(call, named, drafts.edit);
  if (names.length === 0 && now !== null && valid) return null;
  const undo = <LinkButton onClick={() => keep({ edit: undefined })}>Undo changes</LinkButton>;
  if (!valid)
    return (
      <p className="note">
        <Icon name="fail" />
        <span>Your changes don’t fit the tool yet. {undo}</span>
      </p>
    );
  return (
    <p className="note">
      <Icon name="write" />
      <span>
        You changed {plural(names.length, "argument")}. The model is told. {undo}
      </span>
    </p>
  );
}
