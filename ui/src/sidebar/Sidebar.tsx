import { useEffect, useRef, useState } from "react";

import { useConnection } from "../app/link";
import { useResource } from "../app/resource";
import { serverList } from "../app/resources";
import { Link, navigate, paths, useRoute } from "../app/router";
import { useSidebar } from "../app/sidebarState";
import {
  Button,
  Empty,
  Icon,
  IconButton,
  LinkButton,
  Logo,
  Problem,
  Skeleton,
  WaitCount,
  dayOf,
  type Day,
} from "../parts";
import { Bell } from "../notifications/Bell";
import { moveAmongRows } from "./arrows";
import { ConversationRow } from "./ConversationRow";
import { refreshSoon, showMore, undoDelete, useListing } from "./listing";
import { LinkState } from "./LinkState";
import { SearchBox } from "./SearchBox";
import { useSearch } from "./useSearch";

const DAYS: readonly Day[] = ["Today", "Yesterday", "Earlier"];

/** Conversations by day, search, and the ways to the other pages. */
export function Sidebar() {
  const sidebar = useSidebar();
  const search = useSearch();
  const { deleted } = useListing();
  const { state } = useConnection();
  return (
    <nav className="side" aria-label="Chats and settings">
      <div className="brand">
        <Logo />
        <span className="grow">Windlass</span>
        <Bell />
        <IconButton icon="panel" label="Hide the sidebar" onClick={sidebar.close} />
      </div>
      <div className="side-top">
        <Button icon="plus" onClick={() => navigate(paths.home)}>
          New chat
        </Button>
        <SearchBox search={search} />
      </div>
      <div className={state === "lost" ? "list stale" : "list"} onKeyDown={moveAmongRows}>
        {search.text ? <Found search={search} /> : <Days />}
      </div>
      {deleted && (
        <div className="undo" role="status">
          <span className="cut grow">Deleted “{deleted.title || "Untitled"}”.</span>
          <LinkButton onClick={undoDelete}>Undo</LinkButton>
        </div>
      )}
      <Pages />
    </nav>
  );
}

function Days() {
  const { items, deleted, more, error, loaded } = useListing();
  const route = useRoute();
  const [now] = useState(() => Date.now());
  const shown = items.filter(
    (item) =>
      item.id !== deleted?.id && (item.state !== "empty" || item.title || item.id === route.conversationId),
  );
  if (shown.length === 0) return <NoRows error={error} loaded={loaded} />;
  return (
    <>
      {DAYS.map((day) => {
        const those = shown.filter((item) => dayOf(Date.parse(item.updated_at), now) === day);
        return (
          those.length > 0 && (
            <section key={day}>
              <h2>{day}</h2>
              <ul>
                {those.map((item) => (
                  <ConversationRow
                    key={item.id}
                    conversation={item}
                    current={item.id === route.conversationId}
                    now={now}
                  />
                ))}
              </ul>
            </section>
          )
        );
      })}
      {more && (
        <LinkButton className="list-more" onClick={showMore}>
          Show more
        </LinkButton>
      )}
    </>
  );
}

function NoRows({ error, loaded }: { error: string; loaded: boolean }) {
  if (error) return <Problem what="Couldn’t load chats." error={error} onAgain={refreshSoon} />;
  if (!loaded) return <Skeleton label="Loading chats…" rows={6} row={32} />;
  return <Empty icon="send">No chats yet. Write a message to start one.</Empty>;
}

function Found({ search }: { search: ReturnType<typeof useSearch> }) {
  const [now] = useState(() => Date.now());
  const route = useRoute();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (search.wantsFocus) list.current?.querySelector<HTMLElement>("a")?.focus();
  }, [search.wantsFocus]);
  if (search.error) return <p className="bad list-note">{search.error}</p>;
  if (search.found === null) return <p className="dim list-note">Searching…</p>;
  if (search.found.length === 0)
    return (
      <p className="dim list-note">
        Nothing matches “{search.text}”. Words inside tool results are searched too.
      </p>
    );
  return (
    <ul ref={list}>
      {search.found.map((item) => (
        <ConversationRow
          key={item.id}
          conversation={item}
          current={item.id === route.conversationId}
          now={now}
          find={search.text}
        />
      ))}
    </ul>
  );
}

function Pages() {
  const { page } = useRoute();
  const servers = useResource(serverList).value ?? [];
  const needing = servers.filter((server) => server.status === "draft" || server.status === "failed").length;
  const running = servers.filter((server) => server.status === "running").length;
  return (
    <div className="side-end">
      <Link
        className="row"
        href={paths.permissions}
        aria-current={page === "permissions" ? "page" : undefined}
      >
        <Icon name="shield" />
        <span className="grow cut">Permissions</span>
      </Link>
      <Link className="row" href={paths.servers} aria-current={page === "servers" ? "page" : undefined}>
        <Icon name="server" />
        <span className="grow cut">Servers</span>
        {needing > 0 ? (
          <WaitCount n={needing} what={needing === 1 ? "server needs attention" : "servers need attention"} />
        ) : (
          running > 0 && <span className="when">{running} running</span>
        )}
      </Link>
      <Link className="row" href={paths.models} aria-current={page === "models" ? "page" : undefined}>
        <Icon name="model" />
        <span className="grow cut">Models</span>
      </Link>
      <Link
        className="row"
        href={paths.settings}
        aria-current={page === "settings" || page === "account" ? "page" : undefined}
      >
        <Icon name="sliders" />
        <span className="grow cut">Settings</span>
      </Link>
      <LinkState />
    </div>
  );
}
