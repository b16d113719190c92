import { useState } from "react";

import { servers, type Server, type ServerTool } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, Problem, Tag } from "../../parts";
import { Sure } from "../Sure";
import { Argv } from "./DraftCard";
import { Instructions } from "./Instructions";
import { LogTail } from "./LogTail";
import { Offered } from "./Offered";
import { Refused, ServerNote } from "./Refused";
import { ServerFormPanel } from "./ServerFormPanel";
import { SignInFacts } from "./SignInFacts";
import { sandboxText } from "./labels";

interface Props {
  server: Server;
  tools: readonly ServerTool[] | undefined;
}

/** A server unfolded: its tools, what runs, its stderr. */
export function ServerInside({ server, tools }: Props) {
  const [editing, setEditing] = useState(false);
  const { run, busy, error } = useVerb();
  const forget = () => run(() => servers.forget(server.id)).then(() => serverList.refresh());
  if (editing) return <ServerFormPanel server={server} onClose={() => setEditing(false)} />;
  return (
    <div className="server-inside">
      <ServerNote server={server} />
      <Refused server={server} />
      <Offered server={server} tools={tools ?? []} />
      <Instructions server={server} />
      <Facts server={server} />
      {server.transport === "stdio" && server.status !== "configured" && (
        <LogTail server={server} lines={4} />
      )}
      <div className="panel-foot">
        {server.from_config ? (
          <span className="dim">
            Set in <code className="mono">windlass.toml</code>; change it there.
          </span>
        ) : (
          <>
            <Button small onClick={() => setEditing(true)}>
              Edit
            </Button>
            <Sure
              small
              ask="Remove…"
              question="Remove server and its saved values? They can’t be recovered."
              act="Remove"
              disabled={busy}
              onSure={forget}
            />
          </>
        )}
      </div>
      <Problem what="Couldn’t remove it." error={error} />
    </div>
  );
}

function Facts({ server }: { server: Server }) {
  return (
    <dl className="facts">
      {server.transport === "stdio" ? (
        <>
          <dt>Command</dt>
          <dd className="wide">
            <Argv argv={server.argv} />
          </dd>
          <dt>Environment</dt>
          <dd>{names(server.env_names)}</dd>
        </>
      ) : (
        <>
          <dt>Address</dt>
          <dd>
            <code>{server.url}</code>
          </dd>
          <dt>Headers</dt>
          <dd>{names(server.header_names)}</dd>
        </>
      )}
      <SignInFacts server={server} />
      <dt>Sandbox</dt>
      <dd>{sandboxText(server)}</dd>
      <dt>Limits</dt>
      <dd className="num">
        {server.timeout_s} s a call, {server.retries} retries, {server.parallel} at once
      </dd>
      <dt>Trust</dt>
      <dd>
        {server.trusted ? "Trusted: its hints are used." : "Not trusted: its hints are ignored."}
        {server.approval && <Tag>{server.approval}</Tag>}
      </dd>
    </dl>
  );
}

function names(list: readonly string[]) {
  if (list.length === 0) return <span className="dim">none</span>;
  return (
    <>
      {list.map((name) => (
        <code key={name}>{name}</code>
      ))}
      <span className="dim">values hidden</span>
    </>
  );
}
