import { useEffect, useRef, type KeyboardEvent } from "react";

import { Icon, IconButton } from "../parts";
import type { Search } from "./useSearch";

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Search over all conversations. Ctrl or Cmd K comes here from anywhere. */
export function SearchBox({ search }: { search: Search }) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = () => box.current?.focus();
    addEventListener("windlass:search", focus);
    return () => removeEventListener("windlass:search", focus);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      search.intoList();
    } else if (event.key === "Escape" && search.text) {
      event.preventDefault();
      search.setText("");
    }
  };
  return (
    <label className="find">
      <Icon name="search" />
      <input
        ref={box}
        className="grow"
        placeholder="Search"
        aria-label="Search chats"
        value={search.text}
        onChange={(event) => search.setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {search.text ? (
        <IconButton icon="x" label="Clear the search" onClick={() => search.setText("")} />
      ) : (
        <kbd>{isMac ? "⌘ K" : "Ctrl K"}</kbd>
      )}
    </label>
  );
}
