import { useEffect, useState, useSyncExternalStore } from "react";

import { permissions, type Permission } from "../api";
import { PageFrame } from "../app/PageFrame";
import { Link, paths } from "../app/router";
import { Banner, Button, Fold, Icon, Segments, plural } from "../parts";
import "./pages.css";
import { PermissionTable } from "./permissions/PermissionTable";
import { Replay } from "./permissions/Replay";
import { Tester } from "./permissions/Tester";
import { summaryOf } from "./permissions/words";
import "./permissions/permissions.css";
import { useLoaded } from "./useLoaded";

const FILTERS = ["all", "auto", "ask", "deny", "unused"] as const;
type Filter = (typeof FILTERS)[number];
const FILTER_TEXT = { all: "All", auto: "Allow", ask: "Ask", deny: "Deny", unused: "Never used" };

/** Everything that decides whether a call runs: seen, explained, taken back. */
export default function Permissions() {
  const { value, error, again } = useLoaded("permissions", permissions.list);
  const [gone, setGone] = useState<readonly Permission[]>([]);
  const [filter, setFilter] = useState<Filter>("all");
  const shown = useNamedLine();
  const isGone = (id: string) => gone.some((one) => one.id === id);
  const list = (value?.permissions ?? []).filter(({ id }) => !isGone(id));
  const rows = list.filter((one) => passes(one, filter) || one.id === shown);
  return (
    <PageFrame
      title="Permissions"
      meta={value && plural(list.length, "entry", "entries")}
      actions={
        <Link className="btn small" href={`${paths.settings}#policy`}>
          Edit rules
        </Link>
      }
    >
      {error && <LoadFailed onAgain={again} />}
      {!value && !error && <Skeleton />}
      {value && (
        <>
          <p className="perm-summary">{summaryOf(list)}</p>
          <Revoked last={gone.at(-1)} />
          {shown && !list.some(({ id }) => id === shown) && !isGone(shown) && (
            <p className="note" role="status">
              <Icon name="info" />
              <span>That permission is no longer there.</span>
            </p>
          )}
          {list.length > 0 && (
            <section className="stack perm-list" aria-label="Permissions">
              <Filters list={list} filter={filter} onFilter={setFilter} />
              <PermissionTable
                list={rows}
                shown={shown}
                onRevoked={(one) => setGone((before) => [...before, one])}
              />
              {value.left_off > 0 && (
                <p className="dim">{plural(value.left_off, "older setting")} of chats not listed.</p>
              )}
            </section>
          )}
          <Advanced />
        </>
      )}
    </PageFrame>
  );
}

function Revoked({ last }: { last: Permission | undefined }) {
  if (!last) return null;
  return (
    <p className="note" role="status">
      <Icon name="check" />
      <span>{last.effect === "auto" ? "Revoked. The next call asks again." : "Revoked."}</span>
    </p>
  );
}

function passes(one: Permission, filter: Filter): boolean {
  if (filter === "all") return true;
  return filter === "unused" ? one.last_used_at === null : one.effect === filter;
}

function Filters({
  list,
  filter,
  onFilter,
}: {
  list: readonly Permission[];
  filter: Filter;
  onFilter: (filter: Filter) => void;
}) {
  const options = FILTERS.map((value) => ({
    value,
    count: list.filter((one) => passes(one, value)).length,
  })).filter(({ value, count }) => value === "all" || value === filter || count > 0);
  return (
    <div>
      <Segments
        kind="tabs"
        label="Show"
        value={filter}
        onChange={onFilter}
        options={options.map(({ value, count }) => ({ value, label: `${FILTER_TEXT[value]} ${count}` }))}
      />
    </div>
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

const SKELETON_AFTER_MS = 300;

function Skeleton() {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="panel skeleton" aria-busy="true" aria-label="Loading permissions…">
      {late && Array.from({ length: 5 }, (_, n) => <div key={n} />)}
    </div>
  );
}

const ADVANCED = "windlass.permissions.advanced";

/** Opened once, it stays open. */
function Advanced() {
  const [open, setOpen] = useState(() => localStorage.getItem(ADVANCED) === "open");
  const toggle = () => {
    localStorage.setItem(ADVANCED, open ? "" : "open");
    setOpen(!open);
  };
  return (
    <section className="stack" aria-label="Advanced">
      <Fold icon="sliders" title="Advanced" first="Test a call, try a rule" open={open} onToggle={toggle} />
      {open && (
        <div className="cols two">
          <Tester />
          <Replay />
        </div>
      )}
    </section>
  );
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
