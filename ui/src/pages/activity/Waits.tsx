import { turns, type ConversationInfo } from "../../api";
import { useVerb } from "../../conversation/useVerb";
import { waitText, type WaitText } from "../../conversation/waitText";
import { land } from "../../notifications/land";
import { Button, Icon, counting, useNow, type IconName } from "../../parts";
import { needsText, waitingIn } from "../../sidebar/marks";

/** Every chat in which nothing moves, and why: those that need the person first. */
export function Waits({ chats }: { chats: readonly ConversationInfo[] }) {
  const now = useNow(chats.length > 0);
  if (chats.length === 0) return <p className="dim why-none">Nothing is waiting.</p>;
  return (
    <ul className="why">
      {chats.map((chat) => (
        <WaitRow key={chat.id} chat={chat} now={now} />
      ))}
    </ul>
  );
}

export function waitingChats(items: readonly ConversationInfo[]): ConversationInfo[] {
  const needs = (one: ConversationInfo) => waitingIn(one) > 0;
  const waits = items.filter((one) => needs(one) || (one.state === "running" && one.waiting));
  return waits.toSorted((a, b) => Number(needs(b)) - Number(needs(a)));
}

function WaitRow({ chat, now }: { chat: ConversationInfo; now: number }) {
  const { run, busy, error } = useVerb();
  const needs = waitingIn(chat) > 0;
  const { icon, tone, name } = kindOf(chat, needs);
  const title = chat.title || "Untitled";
  const stop = () => run(() => turns.stop(chat.head_turn_id ?? ""));
  return (
    <li>
      <Icon name={icon} className={tone} />
      <span className="why-kind">{name}</span>
      <span className="why-words">
        {needs ? <Needed chat={chat} /> : <Reason text={textOf(chat, now)} />}
        <small className="cut">
          {title}
          {needs && chat.waiting && `, ${counting(now - Date.parse(chat.waiting.since))}`}
        </small>
        {error && <small className="bad">{error}</small>}
      </span>
      <span className="acts">
        {!needs && (
          <Button small disabled={busy} aria-label={`Stop ${title}`} onClick={stop}>
            Stop
          </Button>
        )}
        <Button small aria-label={`Show ${title}`} onClick={() => land(chat.id)}>
          Show
        </Button>
      </span>
    </li>
  );
}

function Needed({ chat }: { chat: ConversationInfo }) {
  return <span>{needsText(chat)}.</span>;
}

function Reason({ text }: { text: WaitText }) {
  return (
    <span>
      <strong>{text.lead}</strong> {text.before}
      {text.count && <span className={text.slow ? "num warn" : "num"}>{text.count}</span>}
      {text.after}
      {text.where && <span className="dim"> {text.where}</span>}
    </span>
  );
}

function textOf({ waiting }: ConversationInfo, now: number): WaitText {
  if (waiting) return waitText(waiting, now, { tool: "", calls: 1 });
  return { lead: "", before: "", count: "", after: "", where: "", slow: false };
}

interface WaitKind {
  icon: IconName;
  tone: string;
  name: string;
}

function kindOf({ approvals, questions, unknowns, waiting }: ConversationInfo, needs: boolean): WaitKind {
  if (waiting?.for === "sign_in") return { icon: "key", tone: "warn", name: "Sign-in" };
  if (waiting?.for === "budget") return { icon: "stopped", tone: "dim", name: "Budget" };
  if (needs && approvals > 0) return { icon: "person", tone: "warn", name: "Approval" };
  if (needs && questions > 0) return { icon: "person", tone: "warn", name: "Question" };
  if (needs && unknowns > 0) return { icon: "unknown", tone: "warn", name: "Outcome unknown" };
  switch (waiting?.for) {
    case "rate_limit":
      return { icon: "timeout", tone: "warn", name: "Rate limited" };
    case "slot":
      return { icon: "queued", tone: "dim", name: "Queued" };
    case "silence":
      return { icon: "run", tone: "warn", name: "Silent" };
    case "first_token":
      return { icon: "run", tone: "accent", name: "First token" };
    case "server":
      return { icon: "run", tone: "accent", name: "Server starting" };
    case "tool":
      return { icon: "run", tone: "warn", name: "Tool silent" };
    default:
      return { icon: "person", tone: "warn", name: "Needs attention" };
  }
}
