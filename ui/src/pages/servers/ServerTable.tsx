import { Fragment, useState } from "react";

import { servers, type Server } from "../../api";
import { serverList } from "../../app/resources";
import { Icon, IconButton, Problem, Tag } from "../../parts";
import { useVerb } from "../../conversation/useVerb";
import type { ToolsById } from "./needs";
import { ServerInside } from "./ServerInside";
import { restart } from "./shared";
import { STATUS, ms, sandboxShort } from "./labels";

interface Props {
  list: readonly Server[];
  tools: ToolsById;
}

const COLUMNS = 9;

/** The servers that need nobody. */
export function ServerTable({ list, tools }: Props) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  return (
    <div className="panel table-box" tabIndex={0} role="group" aria-label="All other servers">
      <table className="table servers">
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">Status</th>
            <th scope="col">Transport</th>
            <th scope="col">Protocol</th>
            <th scope="col" className="r">
              Tools
            </th>
            <th scope="col" className="r">
              Latency
            </th>
            <th scope="col" className="r">
              Calls, errors
            </th>
            <th scope="col">Sandbox</th>
            <th scope="col">
              <span className="vh">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {list.map((server) => (
            <Fragment key={server.id}>
              <Row server={server} open={open.has(server.id)} onToggle={() => toggle(server.id)} />
              {open.has(server.id) && (
                <tr className="inside">
                  <td colSpan={COLUMNS}>
                    <ServerInside server={server} tools={tools.get(server.id)} />
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ server, open, onToggle }: { server: Server; open: boolean; onToggle: () => void }) {
  const { run, busy, error } = useVerb();
  const act = (doing: () => Promise<unknown>) => void run(doing).then(() => serverList.refresh());
  const refused = server.isolation?.refused.length ?? 0;
  const runs = server.status === "running" || server.status === "starting";
  return (
    <>
      <tr className={open ? "open" : undefined}>
        <td className="name">
          <button type="button" aria-expanded={open} onClick={onToggle}>
            <Icon name={open ? "down" : "right"} className="dim" />
            <span className="cut">{server.name}</span>
            {server.note && <Icon name="alert" className="warn" />}
          </button>
        </td>
        <td>
          <Status server={server} />
        </td>
        <td>{server.transport}</td>
        <td className="num">{server.era || "–"}</td>
        <td className="r">{server.tool_count || "–"}</td>
        <td className="r">{ms(server.latency_ms)}</td>
        <td className="r">{server.calls > 0 ? `${server.calls}, ${server.errors}` : "–"}</td>
        <td>
          {sandboxShort(server)}{" "}
          {refused > 0 && (
            <Tag tone="warn" icon="shield">
              {refused} refused
            </Tag>
          )}
        </td>
        <td className="acts">
          <span className="row-acts">
            {runs && (
              <IconButton
                icon="retry"
                label={`Restart ${server.name}`}
                disabled={busy}
                onClick={() => act(() => restart(server))}
              />
            )}
            <IconButton
              icon={runs ? "stop" : "play"}
              label={`${runs ? "Stop" : "Start"} ${server.name}`}
              disabled={busy}
              onClick={() => act(() => (runs ? servers.stop(server.id) : servers.start(server.id)))}
            />
          </span>
        </td>
      </tr>
      {error && (
        <tr className="inside">
          <td colSpan={COLUMNS}>
            <Problem what="That did not work." error={error} />
          </td>
        </tr>
      )}
    </>
  );
}

export function Status({ server }: { server: Server }) {
  const { label, tone } = STATUS[server.status];
  return (
    <span className={`status ${tone}`}>
      {server.status === "starting" ? (
        <Icon name="run" />
      ) : (
        <span className={server.status === "running" ? "dot" : "dot hollow"} />
      )}
      {label}
    </span>
  );
}
