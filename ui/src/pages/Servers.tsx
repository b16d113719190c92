import { useState, type DragEvent } from "react";

import { PageFrame } from "../app/PageFrame";
import { serverList } from "../app/resources";
import { useResource } from "../app/resource";
import { Button, Empty, Icon, Problem, Skeleton, plural } from "../parts";
import "./pages.css";
import { ChangedCard } from "./servers/ChangedCard";
import { DraftCard } from "./servers/DraftCard";
import { FailedCard } from "./servers/FailedCard";
import { Found, useFound } from "./servers/Found";
import { Gallery } from "./servers/Gallery";
import { ImportPanel } from "./servers/ImportPanel";
import { sorted, type Needy } from "./servers/needs";
import { ServerFormPanel } from "./servers/ServerFormPanel";
import { SignInCard } from "./servers/SignInCard";
import { ServerTable } from "./servers/ServerTable";
import { useFreshServers, useKeptOff, useTools } from "./servers/shared";

type Adding = { kind: "form" } | { kind: "import"; text: string } | null;

/** What needs you first; the healthy ones in a table. */
export default function Servers() {
  const { value, error } = useResource(serverList);
  const [adding, setAdding] = useState<Adding>(null);
  const list = value ?? [];
  useFreshServers(list);
  const { tools, again } = useTools(list);
  const { kept, keepOff } = useKeptOff();
  const looking = useFound();
  const [query, setQuery] = useState("");
  const { needy, others } = sorted(list, tools, kept);
  const count = list.reduce((sum, server) => sum + server.tool_count, 0);
  const hold = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation(); // a file dropped elsewhere on the page is a conversation
  };
  const dropped = (event: DragEvent) => {
    hold(event);
    void event.dataTransfer.files[0]?.text().then((text) => setAdding({ kind: "import", text }));
  };
  return (
    <PageFrame
      title="Servers"
      meta={value && `${plural(list.length, "server")}, ${plural(count, "tool")}`}
      actions={
        <>
          <Button
            small
            icon="search"
            aria-label="Look for configs"
            disabled={looking.busy}
            onClick={looking.look}
          >
            <span className="wide">Look for configs</span>
          </Button>
          <Button small icon="save" onClick={() => setAdding({ kind: "import", text: "" })}>
            <span>
              Import<span className="wide"> config</span>
            </span>
          </Button>
          <Button small look="primary" icon="plus" onClick={() => setAdding({ kind: "form" })}>
            Add server
          </Button>
        </>
      }
    >
      <div className="drop-area" onDragOver={hold} onDrop={dropped}>
        {adding?.kind === "form" && (
          <ServerFormPanel
            onClose={() => setAdding(null)}
            onImport={() => setAdding({ kind: "import", text: "" })}
          />
        )}
        {adding?.kind === "import" && (
          <ImportPanel key={adding.text} text={adding.text} onClose={() => setAdding(null)} />
        )}
        <Problem what="Couldn’t load servers." error={error} onAgain={() => void serverList.refresh()} />
        {!value && !error && <Skeleton label="Loading servers…" rows={4} row={52} />}
        <Found looking={looking} />
        {value?.length === 0 && !adding && (
          <Nothing
            onSearch={setQuery}
            onImport={() => setAdding({ kind: "import", text: "" })}
            onLook={looking.look}
          />
        )}
        {needy.length > 0 && <NeedsYou needy={needy} onKeepOff={keepOff} onAccepted={again} />}
        {others.length > 0 && (
          <section>
            <div className="section-head">
              <h2>{needy.length > 0 ? "All other servers" : "All servers"}</h2>
              <span className="dim num">{others.length}</span>
            </div>
            <ServerTable list={others} tools={tools} />
          </section>
        )}
        {value && !adding && (
          <Gallery
            query={query}
            onQuery={setQuery}
            version={list.map((server) => server.id).join(" ")}
            onOther={() => setAdding({ kind: "form" })}
          />
        )}
      </div>
    </PageFrame>
  );
}

interface NeedsProps {
  needy: readonly Needy[];
  onKeepOff: (hash: string) => void;
  onAccepted: () => void;
}

function NeedsYou({ needy, onKeepOff, onAccepted }: NeedsProps) {
  const card = ({ server, need, changed }: Needy) => {
    if (need === "draft") return <DraftCard key={server.id} server={server} />;
    if (need === "sign_in") return <SignInCard key={server.id} server={server} />;
    if (need === "failed") return <FailedCard key={server.id} server={server} />;
    return (
      <ChangedCard
        key={server.id}
        server={server}
        changed={changed}
        onKeepOff={onKeepOff}
        onAccepted={onAccepted}
      />
    );
  };
  return (
    <section>
      <div className="section-head">
        <Icon name="person" className="warn" />
        <h2>Needs attention</h2>
        <span className="dim num">{needy.length}</span>
      </div>
      <div className={needy.length === 1 ? "stack" : "needs-list"}>{needy.map(card)}</div>
    </section>
  );
}

interface NothingProps {
  onSearch: (query: string) => void;
  onImport: () => void;
  onLook: () => void;
}

function Nothing({ onSearch, onImport, onLook }: NothingProps) {
  const actions = (
    <span className="row-acts wrapped">
      <Button onClick={() => onSearch("files")}>Files</Button>
      <Button onClick={() => onSearch("web search")}>Web search</Button>
      <Button onClick={onImport}>Import your config</Button>
      <Button look="ghost" onClick={onLook}>
        Look for configs
      </Button>
    </span>
  );
  return (
    <Empty icon="server" action={actions}>
      No servers yet. Start with files or web search, or import your config.
    </Empty>
  );
}
