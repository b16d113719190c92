import { Fragment, useState } from "react";

import type { Permission } from "../../api";
import { PermissionRow } from "./PermissionRow";
import { RuleEditor } from "./RuleEditor";
import { LAYERS } from "./words";

interface Props {
  list: readonly Permission[];
  /** Whether all layers are shown, with rules to be edited; else only what is in the list. */
  whole: boolean;
  /** Whether a new rule is being written. */
  added: boolean;
  onAdded: () => void;
  /** The line that the address names. */
  shown: string;
  onRevoke: (list: readonly Permission[]) => Promise<boolean>;
  onChanged: () => void;
}

/** The layers that have something in them, in the order in which calls are judged. */
export function PermissionTable({ list, whole, added, onAdded, shown, onRevoke, onChanged }: Props) {
  const [edited, setEdited] = useState("");
  const layers = LAYERS.map((layer, n) => ({
    ...layer,
    n: n + 1,
    rows: list.filter((one) => layer.kinds.includes(one.kind)),
  })).filter(({ id, rows }) => rows.length > 0 || (id === "rules" && added));
  const done = () => {
    setEdited("");
    onAdded();
    onChanged();
  };
  const close = () => {
    setEdited("");
    onAdded();
  };
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
        {layers.map(({ id, n, title, words, rows }) => (
          <tbody key={id}>
            {whole && <LayerHead n={n} title={title} words={words} />}
            {rows.map((one) => (
              <Fragment key={one.id}>
                <PermissionRow
                  one={one}
                  shown={one.id === shown}
                  edited={one.id === edited}
                  onRevoke={onRevoke}
                  onEdit={whole && one.kind === "rule" ? () => setEdited(one.id) : undefined}
                />
                {one.id === edited && <EditedRow id={one.id} onDone={done} onClose={close} />}
              </Fragment>
            ))}
            {id === "rules" && added && <EditedRow id="" onDone={done} onClose={close} />}
          </tbody>
        ))}
        {whole && (
          <tbody>
            <LayerHead
              n={LAYERS.length + 1}
              title="Otherwise"
              words="tools that read run, tools that change or send ask"
            />
          </tbody>
        )}
      </table>
    </div>
  );
}

function LayerHead({ n, title, words }: { n: number; title: string; words: string }) {
  return (
    <tr className="layer">
      <th scope="rowgroup" colSpan={5}>
        <span className="no">{n}</span> <b>{title}</b> {words}
      </th>
    </tr>
  );
}

function EditedRow({ id, onDone, onClose }: { id: string; onDone: () => void; onClose: () => void }) {
  return (
    <tr className="picked">
      <td colSpan={5}>
        <RuleEditor key={id} id={id} onDone={onDone} onClose={onClose} />
      </td>
    </tr>
  );
}
