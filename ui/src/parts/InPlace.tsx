import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

import { errorText } from "../api";
import { Icon } from "./Icon";

interface Props {
  /** What the value is, for a reader: "Stall timeout". */
  label: string;
  /** As a person reads it, and edits it: "4 min". */
  value: string;
  /** Shown where the value is empty: "none". */
  empty?: string;
  /** Rejects with what is wrong; the text stays to be corrected. */
  onSave: (text: string) => Promise<unknown>;
  /** Where it cannot be changed here, why: "Set in windlass.toml; edit it there". */
  fixed?: string;
  /** Beside the value while it is read. */
  note?: ReactNode;
  mono?: boolean;
}

const SAVED_MS = 2000;

/** A value edited where it is read: it is a button, Enter saves, Esc reverts. */
export function InPlace({ label, value, empty = "none", onSave, fixed = "", note, mono = false }: Props) {
  const [editing, setEditing] = useState(false);
  const [saved, setSaved] = useBriefly(SAVED_MS);
  const button = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    if (wasEditing.current && !editing) button.current?.focus();
    wasEditing.current = editing;
  }, [editing]);
  const face = mono ? "mono" : "";
  if (fixed)
    return (
      <span className="in-place">
        <span className={`b ${face}`}>{value || empty}</span>
        <span className="dim">{fixed}</span>
      </span>
    );
  if (editing)
    return (
      <Editor
        label={label}
        value={value}
        face={face}
        onClose={() => setEditing(false)}
        onSave={async (text) => {
          await onSave(text);
          setSaved();
        }}
      />
    );
  return (
    <span className="in-place">
      <button
        ref={button}
        type="button"
        className={`val ${face}`}
        aria-label={`${label}: ${value || empty}`}
        aria-description="Press Enter to edit"
        onClick={() => setEditing(true)}
      >
        {value || empty}
      </button>
      <span className="ok" role="status">
        {saved && (
          <>
            <Icon name="check" />
            Saved
          </>
        )}
      </span>
      {!saved && note && <span className="dim">{note}</span>}
    </span>
  );
}

interface EditorProps {
  label: string;
  value: string;
  face: string;
  onSave: (text: string) => Promise<void>;
  onClose: () => void;
}

/** Left with the pointer or Tab it stays open if something was typed: nothing is saved or lost unasked. */
function Editor({ label, value, face, onSave, onClose }: EditorProps) {
  const id = useId();
  const [text, setText] = useState(value);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  const save = async () => {
    if (busy) return;
    if (text.trim() === value) {
      onClose();
      return;
    }
    setBusy(true);
    try {
      await onSave(text.trim());
      onClose();
    } catch (problem) {
      setWrong(errorText(problem));
      setBusy(false);
    }
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter") void save();
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span className="in-place">
      <input
        className={`val-box ${face}`}
        aria-label={label}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={id}
        autoFocus
        onFocus={(event) => event.target.select()}
        readOnly={busy}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={keys}
        onBlur={() => text.trim() === value && onClose()}
        autoComplete="off"
        spellCheck={false}
      />
      <span id={id} className={wrong ? "wrong" : "dim"} role={wrong ? "alert" : undefined}>
        {wrong || "Enter saves, Esc reverts"}
      </span>
    </span>
  );
}

/** True for a while after it was set. */
function useBriefly(ms: number): [boolean, () => void] {
  const [at, setAt] = useState(0);
  useEffect(() => {
    if (!at) return;
    const timer = setTimeout(() => setAt(0), ms);
    return () => clearTimeout(timer);
  }, [at, ms]);
  return [at > 0, () => setAt(Date.now())];
}
