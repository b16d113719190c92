import {
  useEffect,
  useLayoutEffect,
  useRef,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  type SyntheticEvent,
} from "react";

import type { AvailableTool } from "../api";
import { useResource } from "../app/resource";
import { searchState } from "../app/resources";
import { Icon, LinkButton } from "../parts";
import { together, type Attached } from "./attached";
import { SEARCHES, slashesText } from "./searchHint";
import { useSuggest } from "./suggest/useSuggest";
import { Tray } from "./Tray";
import { useAwake } from "./useAwake";

interface Props {
  text: string;
  onText: (text: string) => void;
  /** Resources that go with the message. */
  attached: readonly Attached[];
  onAttached: (attached: readonly Attached[]) => void;
  /** Those that `@` can name. */
  tools: readonly AvailableTool[];
  onSend: () => void;
  onStop: () => void;
  /** A turn is under way: an empty box stops it, a full one sends afterwards. */
  running: boolean;
  busy: boolean;
  placeholder: string;
  /** Persona, model, tools. */
  controls: ReactNode;
  queue: MessageQueue;
  error: string;
}

/** Messages that are sent when the turn has ended, each by itself. */
export interface MessageQueue {
  messages: readonly { id: string; text: string; held?: boolean }[];
  take: (id: string) => void;
  release: (id: string) => void;
}

const TALLEST = 0.4;

/** The message box. Enter sends, Shift+Enter breaks the line. */
export function Composer(props: Props) {
  const { text, onText, attached, onAttached, tools, onSend, onStop, running, busy, placeholder, controls } =
    props;
  const box = useRef<HTMLTextAreaElement>(null);
  const { awake, ...wakes } = useAwake();
  useGrowth(box, text);
  const suggest = useSuggest({
    box,
    text,
    onText,
    onAttach: (one) => onAttached(together(attached, [one])),
    tools,
  });
  useEffect(() => {
    const focus = () => box.current?.focus();
    addEventListener("windlass:compose", focus);
    return () => removeEventListener("windlass:compose", focus);
  }, []);
  const canSend = text.trim() !== "" && !busy;
  const stops = running && text.trim() === "";
  const onKeyDown = (event: KeyboardEvent) => {
    if (suggest.onKeyDown(event)) return;
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (canSend) onSend();
  };
  const onSubmit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (stops) onStop();
    else if (canSend) onSend();
  };
  return (
    <>
      <Notes {...props} suggested={suggest.notes} />
      <form className={awake ? "composer awake" : "composer"} onSubmit={onSubmit} {...wakes}>
        {suggest.popover}
        <Tray attached={attached} onRemove={(gone) => onAttached(attached.filter((one) => one !== gone))} />
        <label className="vh" htmlFor="composer">
          Message
        </label>
        <textarea
          ref={box}
          id="composer"
          rows={1}
          dir="auto"
          placeholder={placeholder}
          value={text}
          {...suggest.aria}
          onChange={(event) => {
            onText(event.target.value);
            suggest.onCaret(event.target.selectionStart);
          }}
          onSelect={(event) => suggest.onCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-bar">
          {controls}
          <span className="grow" />
          {stops && (
            <span className="hint">
              <kbd>Esc</kbd> <kbd>Esc</kbd> stops
            </span>
          )}
          <SendButton stops={stops} running={running} disabled={!stops && !canSend} />
        </div>
      </form>
    </>
  );
}

function SendButton({ stops, running, disabled }: { stops: boolean; running: boolean; disabled: boolean }) {
  const label = stops
    ? "Stop the turn (Esc twice)"
    : running
      ? "Send after this turn (Enter)"
      : "Send (Enter)";
  return (
    <button type="submit" className="send" aria-label={label} title={label} disabled={disabled}>
      <Icon name={stops ? "stop" : "send"} />
    </button>
  );
}

/** What stands over the box: messages that wait, what `//` does, what went wrong. */
function Notes({ text, queue, error, suggested }: Props & { suggested: readonly string[] }) {
  return (
    <div className="composer-notes">
      {queue.messages.map(({ id, text, held }) => (
        <p className="note" key={id}>
          <Icon name={held ? "stopped" : "queued"} />
          <span className="cut">{held ? `Not sent: “${text}”` : `Queued: “${text}”`}</span>
          {held && <LinkButton onClick={() => queue.release(id)}>Send</LinkButton>}
          <LinkButton onClick={() => queue.take(id)}>Take back</LinkButton>
        </p>
      ))}
      {text.startsWith("//") && <SearchNote />}
      {suggested.map((words) => (
        <p className="note warn" role="status" key={words}>
          <Icon name="alert" />
          <span>{words}</span>
        </p>
      ))}
      {error && (
        <p className="note bad" role="alert">
          <Icon name="fail" />
          <span>{error}</span>
        </p>
      )}
    </div>
  );
}

/** What `//` does here, or why it does nothing. */
function SearchNote() {
  const { value } = useResource(searchState);
  useEffect(() => void searchState.refresh(), []);
  const off = value && (!value.prefix || !value.ready);
  return (
    <p className={off ? "note warn" : "note"} role="status">
      <Icon name={off ? "alert" : "globe"} />
      <span>{value ? slashesText(value) : SEARCHES}</span>
    </p>
  );
}

function useGrowth(box: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.setProperty("height", "auto");
    area.style.setProperty("height", `${Math.min(area.scrollHeight, innerHeight * TALLEST)}px`);
    area.style.setProperty("overflow-y", area.scrollHeight > innerHeight * TALLEST ? "auto" : "hidden");
  }, [box, text]);
}
