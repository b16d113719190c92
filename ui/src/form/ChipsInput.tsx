import { useState, type KeyboardEvent } from "react";

interface Props {
  id: string;
  value: string[];
  onChange: (value: string[]) => void;
}

/** A list of words: Enter or a comma adds one, Backspace in an empty box takes the last away. */
export function ChipsInput({ id, value, onChange }: Props) {
  const [text, setText] = useState("");
  const add = () => {
    if (text.trim()) onChange([...value, text.trim()]);
    setText("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" || event.key === ",") {
      event.preventDefault();
      add();
    } else if (event.key === "Backspace" && text === "") onChange(value.slice(0, -1));
  };
  return (
    <div className="input chips">
      {value.map((chip, n) => (
        <button
          key={`${n}-${chip}`}
          type="button"
          className="tag"
          aria-label={`Remove ${chip}`}
          onClick={() => onChange(value.filter((_, other) => other !== n))}
        >
          {chip}
        </button>
      ))}
      <input
        id={id}
        value={text}
        onChange={(e) => setText(e.target.value)}
        onKeyDown={onKeyDown}
        onBlur={add}
      />
    </div>
  );
}
