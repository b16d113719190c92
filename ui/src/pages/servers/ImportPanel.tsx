import { useRef, useState, type DragEvent } from "react";

import { servers, type ImportNote } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Banner, Button, IconButton, Problem, plural } from "../../parts";
import { AreaField } from "../Field";
import { readImport, type Candidate } from "./importFile";

interface Props {
  /** The text of a file dropped on the page; "" to begin empty. */
  text: string;
  onClose: () => void;
}

/** The server list of another client: pasted, dropped or chosen. All of them become drafts. */
export function ImportPanel({ text: given, onClose }: Props) {
  const [text, setText] = useState(given);
  const [over, setOver] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const [notes, setNotes] = useState<readonly ImportNote[]>([]);
  const { run, busy, error } = useVerb();
  const file = readImport(text);
  const count = file.candidates.length;
  const take = async (chosen: File | undefined) => {
    if (chosen) setText(await chosen.text());
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    void take(event.dataTransfer.files[0]);
  };
  const bring = async () => {
    let remarks: ImportNote[] = [];
    const done = await run(async () => {
      remarks = (await servers.import(file.servers)).notes.filter(
        (note) => note.problem || note.warnings.length > 0,
      );
    });
    if (!done) return;
    await serverList.refresh();
    if (remarks.length === 0) onClose();
    else setNotes(remarks);
  };
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
        <AreaField
          label="Paste your MCP config"
          mono
          rows={8}
          value={text}
          onText={setText}
          problem={file.problem}
          help="Paste it, drop it here, or choose it: the file of Claude Desktop, Cursor, VS Code or Zed."
          placeholder={'{\n  "mcpServers": {\n    "files": { "command": "npx", "args": ["-y", "…"] }\n  }\n}'}
          autoFocus
        />
        {count > 0 && <Candidates candidates={file.candidates} />}
        <Problem what="Nothing was imported." error={error} />
        <Notes notes={notes} />
        <div className="panel-foot">
          <Button look="primary" disabled={count === 0 || busy || notes.length > 0} onClick={bring}>
            {count === 0 ? "Import" : `Import ${plural(count, "draft")}`}
          </Button>
          <Button onClick={() => chooser.current?.click()}>Choose a file…</Button>
          <input
            ref={chooser}
            type="file"
            accept=".json,application/json"
            hidden
            onChange={(event) => void take(event.target.files?.[0])}
          />
          <Button look="ghost" onClick={onClose}>
            {notes.length > 0 ? "Close" : "Cancel"}
          </Button>
        </div>
      </div>
    </section>
  );
}

function Candidates({ candidates }: { candidates: readonly Candidate[] }) {
  return (
    <dl className="facts candidates" aria-label="Found in the file">
      {candidates.map(({ name, what }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{what}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What was left out, and what to look at before a draft is confirmed. */
function Notes({ notes }: { notes: readonly ImportNote[] }) {
  return notes.map(({ name, problem, warnings }) => (
    <Banner key={name} tone={problem ? "bad" : "warn"} icon={problem ? "fail" : "alert"} role="status">
      <strong>{name}</strong> {problem ? `was left out. ${problem}` : `came in. ${warnings.join(" ")}`}
    </Banner>
  ));
}
