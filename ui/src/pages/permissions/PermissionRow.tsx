import { useEffect, useRef } from "react";

import type { Permission } from "../../api";
import { Link, paths } from "../../app/router";
import { useSession } from "../../app/useSession";
import { Button, Icon, Moment, dateIn } from "../../parts";
import { useListing } from "../../sidebar/listing";
import { Sure } from "../Sure";
import { DECISIONS, appliesTo, limitsOf, originOf, usesOf } from "./words";

interface Props {
  one: Permission;
  /** Whether the address names it. */
  shown: boolean;
  edited: boolean;
  onRevoke: (list: readonly Permission[]) => Promise<boolean>;
  onEdit?: (() => void) | undefined;
}

export function PermissionRow({ one, shown, edited, onRevoke, onEdit }: Props) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (!shown) return;
    row.current?.scrollIntoView({ block: "center" });
    row.current?.focus({ preventScroll: true });
  }, [shown]);
  const { word, icon } = DECISIONS[one.effect];
  const limits = limitsOf(one);
  const classes = [shown && "hit", edited && "picked"].filter(Boolean).join(" ");
  return (
    <tr ref={row} id={one.id} className={classes || undefined} tabIndex={shown ? -1 : undefined}>
      <td>
        <span className={`verd ${one.effect}`}>
          <Icon name={icon} />
          {word}
        </span>
      </td>
      <th scope="row">
        <code>{appliesTo(one)}</code>
        {limits && <small>{limits}</small>}
        <Reach one={one} />
      </th>
      <td>
        <SetBy one={one} />
      </td>
      <td>
        <LastUsed one={one} />
      </td>
      <td className="acts">
        {!edited && <Actions one={one} onRevoke={() => void onRevoke([one])} onEdit={onEdit} />}
      </td>
    </tr>
  );
}

/** Where and until when it holds. */
function Reach({ one }: { one: Permission }) {
  const { items } = useListing();
  if (!one.conversation_id && !one.expires_at) return null;
  const title = items.find((item) => item.id === one.conversation_id)?.title;
  return (
    <small>
      {one.conversation_id && (
        <>
          only in <Link href={paths.conversation(one.conversation_id)}>{title || "one chat"}</Link>
        </>
      )}
      {one.conversation_id && one.expires_at && " · "}
      {one.expires_at && `until ${dateIn(Date.parse(one.expires_at))}`}
    </small>
  );
}

function SetBy({ one }: { one: Permission }) {
  const me = useSession()?.name ?? "";
  return (
    <>
      {originOf(one, me)}
      {one.at && (
        <small>
          <Moment at={Date.parse(one.at)} />
        </small>
      )}
      {one.source === "windlass.toml" && <small>Edit the file to change it.</small>}
    </>
  );
}

function LastUsed({ one }: { one: Permission }) {
  const uses = usesOf(one);
  return (
    <>
      {one.last_used_at ? <Moment at={Date.parse(one.last_used_at)} /> : <span className="dim">never</span>}
      {uses && <small>{uses}</small>}
    </>
  );
}

interface ActionsProps {
  one: Permission;
  onRevoke: () => void;
  onEdit: (() => void) | undefined;
}

/** Taking a grant back only makes things stricter, and can be undone; a setting has no way back but setting it anew. */
function Actions({ one, onRevoke, onEdit }: ActionsProps) {
  if (one.source === "windlass.toml" || one.source === "built-in") return null;
  if (onEdit)
    return (
      <Button small look="ghost" aria-label={`Edit ${appliesTo(one)}`} onClick={onEdit}>
        Edit
      </Button>
    );
  if (one.kind === "grant" || one.kind === "rule")
    return (
      <Button small look="ghost" aria-label={`Revoke ${appliesTo(one)}`} onClick={onRevoke}>
        Revoke
      </Button>
    );
  return <Sure small ask="Revoke…" question="Remove this setting?" act="Revoke" onSure={onRevoke} />;
}
