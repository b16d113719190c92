import { useState, useSyncExternalStore } from "react";

import { permissions, type Permission } from "../api";
import { PageFrame } from "../app/PageFrame";
import { useMedia } from "../app/useMedia";
import { useVerb } from "../conversation/useVerb";
import { Banner, Button, Drawer, Fold, Icon, LinkButton, Skeleton, plural } from "../parts";
import "./pages.css";
import { Filters, passes, type Filter } from "./permissions/Filters";
import { PermissionTable } from "./permissions/PermissionTable";
import { Tester } from "./permissions/Tester";
import { isUnused, summaryOf } from "./permissions/words";
import "./permissions/permissions.css";
import { useLoaded } from "./useLoaded";

const ROWS = 5;
const ROW_PX = 52;

/** Everything that decides whether a call runs: seen, explained, taken back. */
export default function Permissions() {
  const { value, error, again } = useLoaded("permissions", permissions.list);
  const [advanced, setAdvanced] = useAdvanced();
  const [added, setAdded] = useState(false);
  const list = value?.permissions ?? [];
  return (
    <PageFrame
      title="Permissions"
      meta={value && advanced && `${plural(list.length, "entry", "entries")}, judged top to bottom`}
      actions={
        value &&
        advanced && (
          <Button small look="primary" icon="plus" onClick={() => setAdded(true)}>
            Add rule
          </Button>
        )
      }
    >
      {error && <LoadFailed onAgain={again} />}
      {!value && !error && <Skeleton label="Loading permissions…" rows={ROWS} row={ROW_PX} />}
      {value && (
        <Loaded
          list={list}
          leftOff={value.left_off}
          advanced={advanced}
          added={added}
          onAdded={() => setAdded(false)}
          onAdvanced={setAdvanced}
          onChanged={again}
        />
      )}
    </PageFrame>
  );
}

interface LoadedProps {
  list: readonly Permission[];
  leftOff: number;
  advanced: boolean;
  added: boolean;
  onAdded: () => void;
  onAdvanced: (on: boolean) => void;
  onChanged: () => void;
}

/** Grants first; rules, layers, tester and replay behind Advanced. A line that the address names is always shown. */
function Loaded({ list, leftOff, advanced, added, onAdded, onAdvanced, onChanged }: LoadedProps) {
  const [filter, setFilter] = useState<Filter>("all");
  const { revoke, restore, last, error } = useRevoked(onChanged);
  const shown = useNamedLine();
  const rows = list.filter(
    (one) => one.id === shown || (advanced ? passes(one, filter) : one.kind === "grant"),
  );
  const isKnown = list.some(({ id }) => id === shown) || last.some(({ id }) => id === shown);
  return (
    <>
      <p className="perm-summary">{summaryOf(list)}</p>
      <Revoked last={last} error={error} onUndo={restore} />
      {shown && !isKnown && (
        <p className="note" role="status">
          <Icon name="info" />
          <span>That permission is no longer there.</span>
        </p>
      )}
      <div className={advanced ? "perm-cols" : undefined}>
        <section className="stack perm-list" aria-label="Permissions">
          {advanced && <Filters list={list} filter={filter} onFilter={setFilter} />}
          {advanced && filter === "unused" && <Unused list={list} onRevoke={revoke} />}
          {(advanced || rows.length > 0) && (
            <PermissionTable
              list={rows}
              whole={advanced}
              added={added}
              onAdded={onAdded}
              shown={shown}
              onRevoke={revoke}
              onChanged={onChanged}
            />
          )}
          {leftOff > 0 && <p className="dim">{plural(leftOff, "older setting")} of chats not listed.</p>}
          <Fold
            icon="sliders"
            title="Advanced"
            first={advanced ? "" : "Rules, all layers, test a call"}
            open={advanced}
            onToggle={() => onAdvanced(!advanced)}
          />
        </section>
        {advanced && <TesterPane />}
      </div>
    </>
  );
}

/** Beside the list where there is room, below it where there is not, on a phone a sheet of its own. */
function TesterPane() {
  const phone = useMedia("(max-width: 640px)");
  const [open, setOpen] = useState(false);
  if (!phone) return <Tester />;
  return (
    <>
      <Button className="wide" icon="info" onClick={() => setOpen(true)}>
        Why would this call ask?
      </Button>
      <Drawer label="Why would this call ask?" side="right" open={open} onClose={() => setOpen(false)}>
        <div className="sheet">
          <Tester />
          <Button onClick={() => setOpen(false)}>Close</Button>
        </div>
      </Drawer>
    </>
  );
}

interface Revoking {
  revoke: (list: readonly Permission[]) => Promise<boolean>;
  restore: () => void;
  /** What was revoked last and can be restored. */
  last: readonly Permission[];
  error: string;
}

/** A revocation holds at once; undoing it saves the very same again, and needs the same right as saving it. */
function useRevoked(onChanged: () => void): Revoking {
  const [last, setLast] = useState<readonly Permission[]>([]);
  const { run, error } = useVerb();
  const revoke = async (list: readonly Permission[]) => {
    const revoked = await run(async () => {
      for (const one of list) await permissions.revoke(one.id);
    });
    if (revoked) setLast(list);
    onChanged();
    return revoked;
  };
  const restore = async () => {
    const restored = await run(async () => {
      for (const one of last.toReversed()) await permissions.restore(one.id);
    });
    if (restored) setLast([]);
    onChanged();
  };
  return { revoke, restore: () => void restore(), last, error };
}

function Revoked({
  last,
  error,
  onUndo,
}: {
  last: readonly Permission[];
  error: string;
  onUndo: () => void;
}) {
  const undoable = last.every(({ kind }) => kind === "grant" || kind === "rule");
  const asks = last.some(({ effect }) => effect === "auto");
  return (
    <>
      {last.length > 0 && (
        <p className="note" role="status">
          <Icon name="check" />
          <span>
            {asks ? "Revoked. The next call asks again." : "Revoked."}{" "}
            {undoable && <LinkButton onClick={onUndo}>Undo</LinkButton>}
          </span>
        </p>
      )}
      {error && (
        <p className="bad" role="alert">
          {error}
        </p>
      )}
    </>
  );
}

interface UnusedProps {
  list: readonly Permission[];
  onRevoke: (list: readonly Permission[]) => Promise<boolean>;
}

function Unused({ list, onRevoke }: UnusedProps) {
  const unused = list.filter(isUnused);
  if (unused.length === 0) return null;
  return (
    <p className="note">
      <Icon name="info" />
      <span>
        Never used.{" "}
        <LinkButton onClick={() => void onRevoke(unused)}>Revoke {unused.length} unused</LinkButton>
      </span>
    </p>
  );
}

function LoadFailed({ onAgain }: { onAgain: () => void }) {
  return (
    <Banner
      tone="bad"
      icon="fail"
      role="alert"
      actions={
        <Button small onClick={onAgain}>
          Try again
        </Button>
      }
    >
      <strong>Permissions couldn’t be loaded.</strong> Calls are still checked on the server.
    </Banner>
  );
}

const ADVANCED = "windlass.permissions.advanced";

/** Opened once, it stays open. */
function useAdvanced(): [boolean, (on: boolean) => void] {
  const [open, setOpen] = useState(() => localStorage.getItem(ADVANCED) === "open");
  const set = (on: boolean) => {
    localStorage.setItem(ADVANCED, on ? "open" : "");
    setOpen(on);
  };
  return [open, set];
}

/** The id behind the # of the address. */
function useNamedLine(): string {
  return useSyncExternalStore(watchHash, () => decodeURIComponent(location.hash.slice(1)));
}

function watchHash(changed: () => void): () => void {
  const names = ["hashchange", "popstate", "windlass:route"];
  names.forEach((name) => addEventListener(name, changed));
  return () => names.forEach((name) => removeEventListener(name, changed));
}
