import { useState } from "react";

import { servers, type FoundConfig, type FoundConfigs, type ImportedServers } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, Icon, IconButton, Problem, plural } from "../../parts";
import { Check } from "../Field";
import { ImportNotes, hasNotes } from "./ImportNotes";

export interface Looking {
  found: FoundConfigs | null;
  look: () => void;
  busy: boolean;
  error: string;
  forget: () => void;
}

/** Files of other clients are looked for when a person asks, never by themselves. */
export function useFound(): Looking {
  const [found, setFound] = useState<FoundConfigs | null>(null);
  const { run, busy, error } = useVerb();
  const look = () => void run(async () => setFound(await servers.found()));
  return { found, look, busy, error, forget: () => setFound(null) };
}

/** "Claude Desktop: 4 servers. Cursor: 2 servers. Nothing has been started." */
export function Found({ looking }: { looking: Looking }) {
  const [open, setOpen] = useState(false);
  const { found, error, look, forget } = looking;
  if (!found) return <Problem what="Couldn’t look for configs." error={error} onAgain={look} />;
  if (open && found.count > 0) return <Review found={found} onClose={forget} />;
  return (
    <section className="found" aria-label="Found on this computer" role="status">
      <Icon name="doc" className="dim" />
      <p>
        {found.configs.length > 0 && <strong>Found on this computer: </strong>}
        {wordsOf(found)}
      </p>
      {found.count > 0 && (
        <Button small onClick={() => setOpen(true)}>
          Review {found.count}
        </Button>
      )}
      <Button small look="ghost" onClick={forget}>
        {found.count > 0 ? "Not now" : "Close"}
      </Button>
    </section>
  );
}

function wordsOf({ configs, count }: FoundConfigs): string {
  if (configs.length === 0)
    return "No configs of other clients are on this computer. Paste one, or pick a server below.";
  const each = configs.map((config) => `${config.client}: ${summary(config)}.`).join(" ");
  return count > 0 ? `${each} Nothing has been started.` : `${each} All of them are here already.`;
}

function summary(config: FoundConfig): string {
  return config.problem ? "can’t be read" : plural(config.servers.length, "server");
}

/** Which of them become drafts. Two files may use one name, so a choice is one of a file. */
function Review({ found, onClose }: { found: FoundConfigs; onClose: () => void }) {
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const [imported, setImported] = useState<ImportedServers | null>(null);
  const { run, busy, error } = useVerb();
  const chosen = found.configs.flatMap((config) =>
    config.servers
      .filter((server) => !server.problem && !server.added && !off.has(key(config, server.name)))
      .map((server) => ({ config, name: server.name })),
  );
  const toggle = (id: string) => {
    const next = new Set(off);
    if (!next.delete(id)) next.add(id);
    setOff(next);
  };
  const bring = () =>
    run(async () => {
      const parts: ImportedServers[] = [];
      for (const config of new Set(chosen.map((one) => one.config))) {
        const only = chosen.filter((one) => one.config === config).map((one) => one.name);
        parts.push(await servers.import({ found: [config.id], only }));
      }
      await serverList.refresh();
      const all = joined(parts);
      if (hasNotes(all)) setImported(all);
      else onClose();
    });
  return (
    <section className="panel" aria-label="Found on this computer">
      <div className="panel-head">
        <h2>Found on this computer</h2>
        <span className="dim">All become drafts; nothing starts.</span>
        <span className="grow" />
        <IconButton icon="x" label="Close" onClick={onClose} />
      </div>
      <div className="panel-body">
        {imported ? (
          <ImportNotes imported={imported} />
        ) : (
          found.configs.map((config) => (
            <Config key={config.id} config={config} off={off} onToggle={toggle} />
          ))
        )}
        <Problem what="Couldn’t import all of them." error={error} />
        <div className="panel-foot">
          {imported ? (
            <Button look="primary" onClick={onClose}>
              Review {plural(imported.count, "draft")}
            </Button>
          ) : (
            <>
              <Button look="primary" disabled={busy || chosen.length === 0} onClick={() => void bring()}>
                Import {plural(chosen.length, "draft")}
              </Button>
              <Button look="ghost" onClick={onClose}>
                Not now
              </Button>
            </>
          )}
        </div>
      </div>
    </section>
  );
}

interface ConfigProps {
  config: FoundConfig;
  off: ReadonlySet<string>;
  onToggle: (id: string) => void;
}

function Config({ config, off, onToggle }: ConfigProps) {
  return (
    <div className="found-list" role="group" aria-label={config.client}>
      <h3>
        {config.client} <span className="dim">{config.path}</span>
      </h3>
      {config.problem && <p className="dim">{config.problem}</p>}
      {config.servers.map((server) => {
        const id = key(config, server.name);
        const out = server.problem || (server.added ? "Already here." : "");
        return (
          <Check
            key={id}
            checked={!out && !off.has(id)}
            disabled={out !== ""}
            onCheck={() => onToggle(id)}
            help={out || `${server.runs}${secretsOf(server.env_names, server.header_names)}`}
          >
            {server.name}
          </Check>
        );
      })}
    </div>
  );
}

function secretsOf(env: readonly string[], headers: readonly string[]): string {
  const names = [...env, ...headers];
  return names.length > 0 ? `, with ${names.join(", ")}` : "";
}

function key(config: FoundConfig, name: string): string {
  return `${config.id} ${name}`;
}

function joined(parts: readonly ImportedServers[]): ImportedServers {
  return {
    servers: parts.flatMap((part) => part.servers),
    notes: parts.flatMap((part) => part.notes),
    unread: parts.flatMap((part) => part.unread),
    count: parts.reduce((sum, part) => sum + part.count, 0),
    success: true,
    message: "",
  };
}
