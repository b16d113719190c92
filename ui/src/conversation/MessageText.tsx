import { useId, useState } from "react";

import { Icon, bytes, grouped, sizeInBytes } from "../parts";
import { foldOf, type Folded } from "./paste";

/** What a person wrote, letter for letter; a long paste is folded to its first lines. */
export function MessageText({ text }: { text: string }) {
  const folded = foldOf(text);
  if (!folded)
    return (
      <div className="bubble" dir="auto">
        {text}
      </div>
    );
  return (
    <div className="bubble pasted">
      <Paste folded={folded} />
      {folded.words && <p dir="auto">{folded.words}</p>}
    </div>
  );
}

function Paste({ folded: { paste, first, lines } }: { folded: Folded }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const what = lines > 1 ? `${grouped(lines)} lines, ` : "";
  return (
    <>
      <div
        id={id}
        className={["paste", open && "open", lines > 1 && "mono"].filter(Boolean).join(" ")}
        dir="auto"
        {...(open && { tabIndex: 0, role: "group", "aria-label": "Pasted text" })}
      >
        {open ? paste : first}
      </div>
      <button
        type="button"
        className="link-btn"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <Icon name={open ? "up" : "down"} />
        {open ? "Show less" : `Show all ${what}${bytes(sizeInBytes(paste))}`}
      </button>
    </>
  );
}
