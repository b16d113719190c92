import { useRef, useState, type DragEvent } from "react";

import { servers, type ImportedServers } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, IconButton, Problem, plural } from "../../parts";
import { AreaField } from "../Field";
import { ImportNotes, hasNotes } from "./ImportNotes";

interface Props {
  /** The text of a file dropped on the page; "" to begin empty. */
  text: string;
  onClose: () => void;
}

/** The server list of another client: pasted, dropped or chosen. The server reads it, whatever its format; all of them
 *  become drafts. */
export function ImportPanel({ text: start, onClose }: Props) {
  const [text, setText] = useState(start);
  const [over, setOver] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const [imported, setImported] = useState<ImportedServers | null>(null);
  const { run, busy, error } = useVerb();
  const take = async (chosen: File | undefined) => {
    if (chosen) setText(await chosen.text());
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  };
  const bring = () =>
    run(async () => {
      const found = await servers.import({ text });
      await serverList.refresh();
      if (hasNotes(found)) setImported(found);
      else onClose();
    });
  return (
    <section
      className={over ? "panel drop over" : "panel drop"}
      aria-label="Import servers"
      onDragOver={(event) => {
        event.preventDefault();
        event.stopPropagation();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="panel-head">
        <h2>Import servers</h2>
        <span className="dim">All become drafts; nothing starts.</span>
        <span className="grow" />
        <IconButton icon="x" label="Close the import" onClick={onClose} />
      </div>
      <div className="panel-body">
        {imported ? (
          <ImportNotes imported={imported} />
        ) : (
          <AreaField
            label="Paste your MCP config"
            mono
            rows={8}
            value={text}
            onText={setText}
            help="Paste it, drop it here, or choose it: JSON, YAML or TOML, as Claude Desktop, Cursor, VS Code, Zed, Codex, Goose and others write it."
            placeholder={
              '{\n  "mcpServers": {\n    "files": { "command": "npx", "args": ["-y", "…"] }\n  }\n}'
            }
            autoFocus
          />
        )}
        <Problem what="Nothing was imported." error={error} />
        {imported ? (
          <div className="panel-foot">
            <Button look="primary" onClick={onClose}>
              {imported.count > 0 ? `Review ${plural(imported.count, "draft")}` : "Close"}
            </Button>
          </div>
        ) : (
          <div className="panel-foot">
            <Button look="primary" disabled={!text.trim() || busy} onClick={() => void bring()}>
              Import as drafts
            </Button>
            <Button onClick={() => chooser.current?.click()}>Choose a file…</Button>
            <input
              ref={chooser}
              type="file"
              accept=".json,.jsonc,.yaml,.yml,.toml,application/json"
              hidden
              onChange={(event) => void take(event.target.files?.[0])}
            />
            <Button look="ghost" onClick={onClose}>
              Cancel
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}
