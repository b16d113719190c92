import { useId, useState, type ReactNode } from "react";

import { servers, type Server } from "../../api";
import { serverList } from "../../app/resources";
import { visible } from "../../conversation/KeyValues";
import { useVerb } from "../../conversation/useVerb";
import { Button, Icon, Problem, Tag, plural } from "../../parts";
import { Sure } from "../Sure";
import { matchOf, unpinnedParts } from "./argv";
import { MissingForm } from "./MissingForm";
import { ServerNote } from "./Refused";
import { ServerFormPanel } from "./ServerFormPanel";
import { sandboxText } from "./labels";

/** Nothing has run. The exact command, typed back, is what lets it. */
export function DraftCard({ server }: { server: Server }) {
  const [editing, setEditing] = useState(false);
  const { run, busy, error } = useVerb();
  if (editing) return <ServerFormPanel server={server} onClose={() => setEditing(false)} />;
  const discard = () => run(() => servers.forget(server.id)).then(() => serverList.refresh());
  const reached = server.transport !== "stdio";
  const start = () =>
    run(async () => {
      if (!reached) await servers.confirm(server.id, server.argv, server.env_values);
      await servers.start(server.id);
    }).then(() => serverList.refresh());
  const others = (
    <>
      <Button onClick={() => setEditing(true)}>Edit</Button>
      <span className="grow" />
      <Sure ask="Discard draft…" question="Discard draft?" act="Discard" disabled={busy} onSure={discard} />
    </>
  );
  return (
    <section className="panel" aria-label={`${server.name}, draft`}>
      <div className="panel-head">
        <h3>{server.name}</h3>
        <span className="status warn">
          <Icon name="lock" />
          Draft
        </span>
        <span className="dim">{reached ? "nothing was sent" : "nothing has run"}</span>
      </div>
      <div className="panel-body">
        <ServerNote server={server} />
        {server.missing.length > 0 ? (
          <>
            <p>It needs {plural(server.missing.length, "value")} first.</p>
            <Argv argv={reached ? [server.url] : server.argv} />
            <MissingForm server={server}>{others}</MissingForm>
          </>
        ) : reached ? (
          <Address server={server} busy={busy} onStart={start}>
            {others}
          </Address>
        ) : (
          <>
            <p>This is the exact command, one part per line.</p>
            <Argv argv={server.argv} />
            <Facts server={server} />
            <Confirm argv={server.argv} busy={busy} onConfirm={start}>
              {others}
            </Confirm>
          </>
        )}
        <Problem what="It did not start." error={error} />
      </div>
    </section>
  );
}

interface AddressProps {
  server: Server;
  busy: boolean;
  onStart: () => void;
  children: ReactNode;
}

/** It runs elsewhere: there is no command to confirm, only an address to agree to. */
function Address({ server, busy, onStart, children }: AddressProps) {
  return (
    <>
      <p>This is the address it is reached at.</p>
      <ol className="argv" aria-label="Address">
        <li>
          <span>{server.url}</span>
        </li>
      </ol>
      <dl className="facts">
        <dt>Headers</dt>
        <dd>
          {server.header_names.map((name) => (
            <code key={name}>{name}</code>
          ))}
          <span className="dim">{server.header_names.length > 0 ? "values hidden" : "none"}</span>
        </dd>
      </dl>
      <div className="panel-foot">
        <Button look="primary" disabled={busy} onClick={onStart}>
          {busy ? "Starting" : "Start"}
        </Button>
        {children}
      </div>
    </>
  );
}

export function Argv({ argv }: { argv: readonly string[] }) {
  const open = new Set(unpinnedParts(argv));
  return (
    <ol className="argv" aria-label="Command">
      {argv.map((part, n) => (
        <li key={n}>
          <span>{part === "" ? <span className="dim">(empty)</span> : part}</span>
          {open.has(n) && (
            <Tag tone="warn" icon="alert">
              version not pinned
            </Tag>
          )}
        </li>
      ))}
    </ol>
  );
}

function Facts({ server }: { server: Server }) {
  return (
    <dl className="facts">
      <dt>Environment</dt>
      <Environment server={server} />
      {server.cwd && (
        <>
          <dt>Folder</dt>
          <dd>
            <code>{server.cwd}</code>
          </dd>
        </>
      )}
      <dt>Sandbox</dt>
      <dd>{sandboxText(server)}</dd>
    </dl>
  );
}

/** Variables are confirmed with the command, so their values are in view; secrets are only named. */
function Environment({ server }: { server: Server }) {
  if (server.env_names.length === 0)
    return (
      <dd>
        <span className="dim">none of yours is passed on</span>
      </dd>
    );
  return (
    <dd className="wide">
      <ul className="argv unnumbered" aria-label="Environment">
        {server.env_names.map((name) => (
          <li key={name}>
            <Variable name={name} value={server.env_values[name]} />
          </li>
        ))}
      </ul>
    </dd>
  );
}

function Variable({ name, value }: { name: string; value: string | undefined }) {
  if (value !== undefined) return <span>{`${name}=${onOneLine(visible(value))}`}</span>;
  return (
    <span>
      {name} <span className="dim">value hidden</span>
    </span>
  );
}

/** A line break in a value must not look like the next variable. */
function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (letter) => {
    const code = letter.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase()}⟩`;
  });
}

interface ConfirmProps {
  argv: readonly string[];
  busy: boolean;
  onConfirm: () => void;
  children: ReactNode;
}

function Confirm({ argv, busy, onConfirm, children }: ConfirmProps) {
  const [typed, setTyped] = useState("");
  const id = useId();
  const match = matchOf(typed, argv);
  const spaced = argv.some((part) => part === "" || /\s/.test(part));
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (match.whole && !busy) onConfirm();
      }}
    >
      <div className="field">
        <label htmlFor={id}>Enter the command to confirm and start</label>
        <input
          className="input mono"
          id={id}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          aria-describedby={`${id}-help`}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
        />
        <span className="help num" id={`${id}-help`} role="status">
          {match.whole ? "All of it matches" : `${match.parts} of ${argv.length} parts match`}
          {spaced && !match.whole && ". Put quotes around a part with spaces"}
        </span>
      </div>
      <div className="panel-foot">
        <Button type="submit" look="primary" disabled={!match.whole || busy}>
          {busy ? "Starting" : "Confirm and start"}
        </Button>
        {children}
      </div>
    </form>
  );
}
