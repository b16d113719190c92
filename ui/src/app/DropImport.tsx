import { useEffect, useState } from "react";

import { conversations, errorText } from "../api";
import { Banner, Button } from "../parts";
import { refreshSoon } from "../sidebar/listing";
import { navigate, paths } from "./router";

/** A conversation's file dropped anywhere on the page is brought in. */
export function DropImport() {
  const [over, setOver] = useState(false);
  const [error, setError] = useState("");
  useEffect(() => {
    const onOver = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      setOver(false);
      bringIn(files).then(
        () => setError(""),
        (problem: unknown) => setError(errorText(problem)),
      );
    };
    addEventListener("dragover", onOver);
    addEventListener("dragleave", onLeave);
    addEventListener("drop", onDrop);
    return () => {
      removeEventListener("dragover", onOver);
      removeEventListener("dragleave", onLeave);
      removeEventListener("drop", onDrop);
    };
  }, []);
  if (over) return <div className="drop-here">Drop the file to import its chat.</div>;
  if (!error) return null;
  return (
    <div className="corner">
      <Banner
        tone="bad"
        icon="fail"
        role="alert"
        actions={
          <Button small onClick={() => setError("")}>
            Close
          </Button>
        }
      >
        <strong>Not imported.</strong> {error}
      </Banner>
    </div>
  );
}

async function bringIn(files: readonly File[]): Promise<void> {
  let last = "";
  for (const file of files)
    last = (await conversations.import(parsed(await file.text(), file.name))).conversation.id;
  refreshSoon();
  navigate(paths.conversation(last));
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} is not a JSON file.`);
  }
}
