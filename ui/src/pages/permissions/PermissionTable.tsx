import { useEffect, useRef } from "react";

import { permissions, type Permission } from "../../api";
import { Link, paths } from "../../app/router";
import { useSession } from "../../app/useSession";
import { useVerb } from "../../conversation/useVerb";
import { Button, Icon, Moment, dateIn } from "../../parts";
import { useListing } from "../../sidebar/listing";
import { Sure } from "../Sure";
import { DECISIONS, LAYERS, appliesTo, limitsOf, originOf } from "./words";

interface Props {
  list: readonly Permission[];
  /** The line that the address names. */
  shown: string;
  onRevoked: (one: Permission) => void;
}

/** Every layer that has something in it, in the order in which calls are judged. */
export function PermissionTable({ list, shown, onRevoked }: Props) {
  const layers = LAYERS.map((layer) => ({
    ...layer,
    rows: list.filter((one) => layer.kinds.includes(one.kind)),
  })).filter(({ rows }) => rows.length > 0);
  return (
    <div className="panel">
      <table className="perms">
        <thead>
          <tr>
            <th scope="col">Decision</th>
            <th scope="col">Applies to</th>
            <th scope="col">Set by</th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span className="vh">Actions</span>
            </th>
          </tr>
        </thead>
        {layers.map(({ id, title, words, rows }) => (
          <tbody key={id}>
            <tr className="layer">
              <th scope="rowgroup" colSpan={5}>
                <b>{title}</b> {words}
              </th>
            </tr>
            {rows.map((one) => (
              <Row key={one.id} one={one} shown={one.id === shown} onRevoked={onRevoked} />
            ))}
          </tbody>
        ))}
        <tbody>
          <tr className="layer">
            <th scope="rowgroup" colSpan={5}>
              <b>Otherwise</b> tools that read run, tools that change or send ask
            </th>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  one: Permission;
  shown: boolean;
  onRevoked: (one: Permission) => void;
}

function Row({ one, shown, onRevoked }: RowProps) {
  const { run, busy, error } = useVerb();
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (!shown) return;
    row.current?.scrollIntoView({ block: "center" });
    row.current?.focus({ preventScroll: true });
  }, [shown]);
  const revoke = async () => {
    if (await run(() => permissions.revoke(one.id))) onRevoked(one);
  };
  const { word, icon, tone } = DECISIONS[one.effect];
  const limits = limitsOf(one);
  return (
    <tr ref={row} id={one.id} className={shown ? "hit" : undefined} tabIndex={shown ? -1 : undefined}>
      <td>
        <span className={`status ${tone}`}>
          <Icon name={icon} />
          {word}
        </span>
      </td>
      <th scope="row">
        <code>{appliesTo(one)}</code>
        {limits && <small>{limits}</small>}
        <Reach one={one} />
        {error && (
          <small className="bad" role="alert">
            {error}
          </small>
        )}
      </th>
      <td>
        <SetBy one={one} />
      </td>
      <td>
        {one.last_used_at ? <Moment at={Date.parse(one.last_used_at)} /> : <span className="dim">never</span>}
      </td>
      <td className="acts">
        <Revoke one={one} busy={busy} onRevoke={() => void revoke()} />
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

/** Taking a grant back only makes things stricter; the rest has no way back, so it takes one more step. */
function Revoke({ one, busy, onRevoke }: { one: Permission; busy: boolean; onRevoke: () => void }) {
  if (one.source === "windlass.toml" || one.source === "built-in") return null;
  if (one.kind === "grant")
    return (
      <Button small look="ghost" disabled={busy} aria-label={`Revoke ${appliesTo(one)}`} onClick={onRevoke}>
        Revoke
      </Button>
    );
  const what = one.kind === "rule" ? "Delete this rule?" : "Remove this setting?";
  return <Sure small ask="Revoke…" question={what} act="Revoke" disabled={busy} onSure={onRevoke} />;
}
