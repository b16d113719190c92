import { useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";

import { sendMessage } from "../api";
import { Button } from "../parts";
import type { ChatMessage, Turn } from "../state";
import { useOpen } from "./context";
import { useVerb } from "./useVerb";

interface Props {
  turn: Turn;
  text: string;
  attached: ChatMessage["attached"];
  onDone: () => void;
}

/** The same place in the conversation with other words: a new branch. */
export function EditMessage({ turn, text: before, attached = [], onDone }: Props) {
  const { store } = useOpen();
  const [text, setText] = useState(before);
  const { run, busy, error } = useVerb();
  const [letter, setLetter] = useState({ text: "", id: "" });
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(before.length, before.length);
  }, [before]);
  const send = async () => {
    // The same words sent again after a lost answer are no second message.
    const id = letter.text === text ? letter.id : crypto.randomUUID();
    setLetter({ text, id });
    const sent = await run(() =>
      sendMessage(store.id, {
        content: text,
        client_message_id: id,
        parent_turn_id: turn.parent || null,
        ...(attached.length > 0 && { attachments: attached.map(({ server, uri }) => ({ server, uri })) }),
      }),
    );
    if (sent) onDone();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onDone();
    } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      void send();
    }
  };
  return (
    <div className="said editing">
      <textarea
        ref={box}
        className="input"
        rows={3}
        dir="auto"
        aria-label="Message"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="edit-foot">
        <span className="dim">The answers so far are kept as another branch.</span>
        {error && <span className="bad">{error}</span>}
        <Button look="ghost" small onClick={onDone}>
          Cancel
        </Button>
        <Button look="primary" small disabled={busy || !text.trim()} onClick={send}>
          Send again
        </Button>
      </div>
    </div>
  );
}
