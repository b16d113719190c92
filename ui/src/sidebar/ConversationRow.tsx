import { useState, type KeyboardEvent } from "react";

import { conversations, saveFile, type ConversationInfo } from "../api";
import { Link, navigate, paths } from "../app/router";
import { neededText } from "../conversation/labels";
import { Icon, IconButton, Menu, WaitCount, when } from "../parts";
import { deleteSoon, rename } from "./listing";
import { isUnread, markOf, type Mark } from "./marks";

interface Props {
  conversation: ConversationInfo;
  current: boolean;
  now: number;
}

export function ConversationRow({ conversation, current, now }: Props) {
  const [renaming, setRenaming] = useState(false);
  const title = conversation.title || "Untitled";
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
        href={paths.conversation(conversation.id)}
        aria-current={current ? "page" : undefined}
        onDoubleClick={() => setRenaming(true)}
      >
        <span className="grow cut">
          {title}
          {conversation.excerpt && (
            <small className="excerpt cut">{withoutMarks(conversation.excerpt)}</small>
          )}
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

/** Words as they are read: the signs of markdown say nothing in one line. */
export function withoutMarks(markdown: string): string {
  return markdown
    .replace(/```\w*|\*\*|`|^#+ |^> /gm, " ")
    .replace(/\s+/g, " ")
    .trim();
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
      return <WaitCount n={mark.count} what={neededText(mark.count, mark.approvals).replace(/^\d+ /, "")} />;
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
      autoFocus
      value={title}
      onFocus={(event) => event.target.select()}
      onChange={(event) => setTitle(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={keep}
    />
  );
}
