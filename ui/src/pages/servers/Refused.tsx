import { servers, type Server } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Banner, Button, CopyButton, Icon, Problem } from "../../parts";

/** What a person should know of it, such as a program that was replaced under its command. */
export function ServerNote({ server }: { server: Server }) {
  if (!server.note) return null;
  return (
    <Banner tone="warn" icon="alert">
      {server.note}
    </Banner>
  );
}

type RefusedPath = NonNullable<Server["isolation"]>["refused"][number];

/** What isolation kept from a server that it seems to need, with what allows it. Draws nothing where nothing was. */
export function Refused({ server }: { server: Server }) {
  const refused = server.isolation?.refused ?? [];
  if (refused.length === 0) return null;
  return (
    <ul className="refused" aria-label={`Kept from ${server.name}`}>
      {refused.map((one) => (
        <RefusedRow key={`${one.access} ${one.path}`} server={server} refused={one} />
      ))}
    </ul>
  );
}

function RefusedRow({ server, refused }: { server: Server; refused: RefusedPath }) {
  const { run, busy, error } = useVerb();
  const verb = refused.access === "read" ? "reading" : "writing";
  return (
    <li>
      <p className="note">
        <Icon name="shield" />
        <span>
          Isolation keeps {server.name} from {verb} <code className="mono">{refused.path}</code>.
        </span>
        {!server.from_config && (
          <Button small disabled={busy} onClick={() => void run(() => allow(server, refused))}>
            Allow {verb} and restart
          </Button>
        )}
      </p>
      {server.from_config && (
        <>
          <p className="dim">If it needs that, write this in windlass.toml and restart:</p>
          <div className="toml-line">
            <code className="mono">{refused.line}</code>
            <CopyButton text={refused.line} />
          </div>
        </>
      )}
      <Problem what="Couldn’t allow it." error={error} />
    </li>
  );
}

/** The command is the one that was confirmed before; what it may reach is what was pressed. */
async function allow(server: Server, { inside }: RefusedPath): Promise<void> {
  const { server: changed } = await servers.change(server.id, { inside });
  if (changed.status === "draft") await servers.confirm(server.id, changed.argv, changed.env_values);
  await servers.start(server.id);
  await serverList.refresh();
}
