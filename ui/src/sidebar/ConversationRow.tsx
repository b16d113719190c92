import { useState, type KeyboardEvent } from "react";

import { conversations, saveFile, type ConversationInfo } from "../api";
import { Link, navigate, paths } from "../app/router";
import { Icon, IconButton, Menu, when } from "../parts";
import { deleteSoon, rename } from "./listing";
import { isUnread, markOf, type Mark } from "./marks";

interface Props {
  conversation: ConversationInfo;
  current: boolean;
  now: number;
  /** What was looked for, where the row is a find: it opens at the hit. */
  find?: string;
}

export function ConversationRow({ conversation, current, now, find = "" }: Props) {
  const [renaming, setRenaming] = useState(false);
  const title = conversation.title || "Untitled";
  const hit = conversation.hits?.[0];
  if (renaming)
    return (
      <li>
        <RenameBox conversation={conversation} onDone={() => setRenaming(false)} />
      </li>
    );
  return (
    <li className="row-slot">
      <Link
        className="row"
        href={
          hit ? paths.message(conversation.id, hit.message_id, find) : paths.conversation(conversation.id)
        }
        aria-current={current ? "page" : undefined}
        onDoubleClick={() => setRenaming(true)}
      >
        <span className="grow cut" dir="auto">
          {title}
          {hit && <Excerpt pieces={hit.pieces} />}
        </span>
        <MarkView
          mark={markOf(conversation, !current && isUnread(conversation))}
          at={conversation.updated_at}
          now={now}
        />
      </Link>
      <Menu
        label={`Actions for ${title}`}
        trigger={<IconButton className="row-menu" icon="more" label={`Actions for ${title}`} />}
        items={[
          { id: "rename", icon: "write", label: "Rename", onSelect: () => setRenaming(true) },
          {
            id: "json",
            icon: "save",
            label: "Export as JSON",
            onSelect: () => void save(conversation, "json"),
          },
          {
            id: "markdown",
            icon: "doc",
            label: "Export as Markdown",
            onSelect: () => void save(conversation, "markdown"),
          },
          {
            id: "delete",
            icon: "trash",
            label: "Delete",
            danger: true,
            onSelect: () => drop(conversation, current),
          },
        ]}
      />
    </li>
  );
}

/** Words around and words found, by turns. */
function Excerpt({ pieces }: { pieces: readonly string[] }) {
  return (
    <small className="excerpt cut">
      {pieces.map((piece, n) => (n % 2 === 1 ? <mark key={n}>{piece}</mark> : piece))}
    </small>
  );
}

function drop(conversation: ConversationInfo, current: boolean): void {
  deleteSoon(conversation);
  if (current) navigate(paths.home);
}

export async function save(
  conversation: Pick<ConversationInfo, "id" | "title">,
  format: "json" | "markdown",
): Promise<void> {
  const name = `${conversation.title || "chat"}.${format === "json" ? "json" : "md"}`;
  await saveFile(conversations.exportUrl(conversation.id, format), name);
}

function MarkView({ mark, at, now }: { mark: Mark; at: string; now: number }) {
  switch (mark.kind) {
    case "unknown":
      return <WordedIcon icon="unknown" tone="warn" words="Outcome unknown" />;
    case "waiting":
      return <NeedCount count={mark.count} words={mark.words} />;
    case "failed":
      return <WordedIcon icon="fail" tone="bad" words="Failed" />;
    case "running":
      return <WordedIcon icon="run" tone="accent" words="Running" />;
    case "unread":
      return (
        <>
          <span className="dot" title="New answer" />
          <span className="vh">New answer</span>
        </>
      );
    case "time":
      return <span className="when">{when(Date.parse(at), now)}</span>;
  }
}

/** A number to see, words to hear and to point at. */
function NeedCount({ count, words }: { count: number; words: string }) {
  return (
    <span className="count warn" title={words}>
      <Icon name="person" />
      <span aria-hidden="true">{count}</span>
      <span className="vh">{words}</span>
    </span>
  );
}

function WordedIcon({
  icon,
  tone,
  words,
}: {
  icon: "unknown" | "fail" | "run";
  tone: string;
  words: string;
}) {
  return (
    <span title={words}>
      <Icon name={icon} className={tone} />
      <span className="vh">{words}</span>
    </span>
  );
}

function RenameBox({ conversation, onDone }: { conversation: ConversationInfo; onDone: () => void }) {
  const [title, setTitle] = useState(conversation.title);
  const keep = () => {
    if (title.trim() && title !== conversation.title) void rename(conversation.id, title.trim());
    onDone();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Enter") keep();
    if (event.key === "Escape") onDone();
  };
  return (
    <input
      className="input rename"
      aria-label="Title"
      dir="auto"
      autoFocus
      value={title}
      onFocus={(event) => event.target.select()}
      onChange={(event) => setTitle(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={keep}
    />
  );
}
