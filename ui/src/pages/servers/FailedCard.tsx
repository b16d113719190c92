import { useState } from "react";

import { servers, type Server } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, Icon, IconButton, Menu, Problem, counting, useNow, type MenuItem } from "../../parts";
import { sentence } from "../inspector/repairs";
import { SureRow } from "../Sure";
import { LogTail } from "./LogTail";
import { Refused } from "./Refused";
import { ServerFormPanel } from "./ServerFormPanel";
import { restart } from "./shared";

export function FailedCard({ server }: { server: Server }) {
  const [editing, setEditing] = useState(false);
  const [removing, setRemoving] = useState(false);
  const { run, busy, error } = useVerb();
  if (editing) return <ServerFormPanel server={server} onClose={() => setEditing(false)} />;
  const own: MenuItem[] = [
    { id: "edit", label: "Edit", icon: "write", onSelect: () => setEditing(true) },
    { id: "remove", label: "Remove…", icon: "trash", danger: true, onSelect: () => setRemoving(true) },
  ];
  const act = (doing: () => Promise<unknown>) => run(doing).then(() => serverList.refresh());
  return (
    <section className="panel" aria-label={`${server.name}, failed`}>
      <div className="panel-head">
        <h3>{server.name}</h3>
        <span className="status bad">
          <Icon name="fail" />
          Failed
        </span>
        <NextTry server={server} />
        <span className="grow" />
        <Button small icon="retry" disabled={busy} onClick={() => act(() => restart(server))}>
          Restart now
        </Button>
        <Menu
          label={`More for ${server.name}`}
          trigger={<IconButton icon="more" label={`More for ${server.name}`} />}
          items={[
            {
              id: "stop",
              label: "Stop trying",
              icon: "stop",
              onSelect: () => void act(() => servers.stop(server.id)),
            },
            ...(server.from_config ? [] : own),
          ]}
        />
      </div>
      <div className="panel-body">
        <p>{sentence(server.error || "Exited without output")} Calls to it fail at once.</p>
        <Refused server={server} />
        <LogTail server={server} lines={4} />
        {removing && (
          <SureRow
            question="The server and its kept values are lost."
            act="Remove"
            onSure={() => void act(() => servers.forget(server.id))}
            onKeep={() => setRemoving(false)}
          />
        )}
        <Problem what="That did not work." error={error} />
      </div>
    </section>
  );
}

function NextTry({ server }: { server: Server }) {
  const at = server.retry_at ? Date.parse(server.retry_at) : 0;
  const now = useNow(at > 0);
  if (at <= now) return null;
  return <span className="dim num">next try in {counting(at - now)}</span>;
}
