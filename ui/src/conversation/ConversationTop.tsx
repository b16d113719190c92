import type { ConversationInfo } from "../api";
import { TopBar } from "../app/PageFrame";
import { inspect } from "../app/router";
import { IconButton, Menu, tokens, useNow, when, type MenuItem } from "../parts";
import { save } from "../sidebar/ConversationRow";
import { useListing } from "../sidebar/listing";
import { contextTokens, userText, type Conversation, type Turn } from "../state";
import { useOpen } from "./context";

interface Props {
  conversation: ConversationInfo | null;
  /** Null before the first message. */
  state: Conversation | null;
  path: readonly Turn[];
  inspected: string;
}

export function ConversationTop({ conversation, state, path, inspected }: Props) {
  const last = path.at(-1);
  const used = contextTokens(path.findLast((turn) => turn.rounds.length > 0));
  const most = conversation?.max_tokens;
  const listed = useListing().items.find((item) => item.id === conversation?.id); // a new name shows at once
  return (
    <TopBar
      actions={
        <>
          {used > 0 && (
            <span className="dim num topmeta">
              {tokens(used)} {most ? `of ${tokens(most)} ` : ""}tokens
            </span>
          )}
          {state && leavesOf(state).length > 1 && <BranchMenu state={state} path={path} />}
          {conversation && last && <ExportMenu conversation={conversation} />}
          {last && (
            <IconButton
              icon="spans"
              label="Turn inspector"
              aria-pressed={inspected !== ""}
              onClick={() => inspect(inspected ? "" : last.id)}
            />
          )}
        </>
      }
    >
      <h1 className="cut" dir="auto">
        {listed?.title || conversation?.title || "New chat"}
      </h1>
    </TopBar>
  );
}

function ExportMenu({ conversation }: { conversation: ConversationInfo }) {
  return (
    <Menu
      label="Export"
      trigger={<IconButton className="wide" icon="save" label="Export" />}
      items={[
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
      ]}
    />
  );
}

/** Every branch by its last words, newest first. */
function BranchMenu({ state, path }: { state: Conversation; path: readonly Turn[] }) {
  const { store } = useOpen();
  const now = useNow(false);
  const items = leavesOf(state).map((leaf): MenuItem => ({
    id: leaf.id,
    label: userText(leaf).split("\n", 1)[0] || "Without words",
    hint: when(leaf.lastAt, now),
    checked: path.at(-1) === leaf,
    onSelect: () => store.showBranch(leaf.id),
  }));
  return (
    <Menu
      label="Branches of this chat"
      trigger={<IconButton className="wide" icon="branch" label="Branches of this chat" />}
      items={items}
    />
  );
}

function leavesOf(state: Conversation): Turn[] {
  return [...state.turns.values()].filter((turn) => !state.children.has(turn.id)).reverse();
}
