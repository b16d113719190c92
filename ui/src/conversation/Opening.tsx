import { useState } from "react";

import { CopyButton, IconButton, Moment, Tag, dayOf, useNow } from "../parts";
import { Prose } from "../prose/Prose";
import { messageId, type ChatMessage, type Turn, type Versions } from "../state";
import { AttachedTexts } from "./AttachedTexts";
import { DeleteMessage } from "./DeleteMessage";
import { EditMessage } from "./EditMessage";
import { MessageText } from "./MessageText";
import { Pager } from "./Pager";
import { ResultView } from "./ResultView";

interface Props {
  turn: Turn;
  wordings: Versions;
}

/** What was there before the model spoke: a person's message, or messages put in by hand or by import. */
export function Opening({ turn, wordings }: Props) {
  const [editing, setEditing] = useState(false);
  const silent = turn.origin === "continue" || turn.origin === "call_retry";
  if (turn.client)
    return (
      <p className="dim" dir="auto">
        Called by {turn.client}
      </p>
    );
  return turn.opening.map((message, index) => {
    if (turn.blanked.includes(index))
      return (
        <p className="said dim" key={index}>
          This message was deleted.
        </p>
      );
    const id = messageId(turn, turn.firstSeq, index);
    if (message.role !== "user") return <OtherMessage key={index} id={id} message={message} />;
    if (silent) return null;
    if (editing)
      return (
        <EditMessage
          key={index}
          turn={turn}
          text={message.content ?? ""}
          attached={message.attached}
          onDone={() => setEditing(false)}
        />
      );
    return (
      <UserMessage
        key={index}
        turn={turn}
        text={message.content ?? ""}
        attached={message.attached}
        id={id}
        wordings={wordings}
        onEdit={() => setEditing(true)}
      />
    );
  });
}

interface UserProps {
  turn: Turn;
  text: string;
  attached: ChatMessage["attached"];
  id: string;
  wordings: Versions;
  onEdit: () => void;
}

function UserMessage({ turn, text, attached, id, wordings, onEdit }: UserProps) {
  const isOld = dayOf(turn.startedAt, useNow(false)) !== "Today";
  const searched = turn.settings.search === "due" || turn.settings.search === "offered";
  return (
    <div className="said" data-message={id}>
      <MessageText text={text} />
      <AttachedTexts attached={attached} />
      <div className="acts">
        {searched && <Tag icon="globe">web search</Tag>}
        <Pager versions={wordings} what="message" />
        <span className="quiet">
          <CopyButton text={text} label="Copy the message" />
          {turn.origin !== "added" && (
            <IconButton icon="write" label="Edit and send again" onClick={onEdit} />
          )}
          <DeleteMessage turn={turn} id={id} what="message" />
          {!isOld && <Moment at={turn.startedAt} />}
        </span>
        {isOld && <Moment at={turn.startedAt} />}
      </div>
    </div>
  );
}

function OtherMessage({ id, message }: { id: string; message: ChatMessage }) {
  if (message.role === "assistant")
    return (
      <div className="round added" data-message={id}>
        <span />
        <div className="body">{message.content && <Prose text={message.content} />}</div>
      </div>
    );
  return (
    <div className="round added" data-message={id}>
      <span />
      <div className="body">
        <p className="dim">
          {message.role === "tool" ? `Result of ${message.name || "a tool"}` : "System message"}
        </p>
        <ResultView text={message.content ?? ""} />
      </div>
    </div>
  );
}
