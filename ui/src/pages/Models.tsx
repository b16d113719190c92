import { useState } from "react";

import { providers } from "../api";
import { PageFrame } from "../app/PageFrame";
import { useResource } from "../app/resource";
import { providerList } from "../app/resources";
import { Button, Empty, IconButton, Problem, Skeleton, Strip, plural } from "../parts";
import { ConnectModel } from "./models/ConnectModel";
import { ProviderCard } from "./models/ProviderCard";
import { ProviderForm, type Preset } from "./models/ProviderForm";
import "./models/models.css";
import "./pages.css";
import { useLoaded } from "./useLoaded";

/** Where models come from. In demo mode the first thing is to connect one. */
export default function Models() {
  const { value, error } = useResource(providerList);
  const [adding, setAdding] = useState<Preset | null>(null);
  const [connecting, setConnecting] = useState(false);
  const list = value ?? [];
  const demo = list.length > 0 && list.every((provider) => provider.demo);
  if (demo && !connecting) setConnecting(true); // stays for its second step, when the demo is over
  const close = () => setAdding(null);
  return (
    <PageFrame
      title="Models"
      meta={value && plural(list.length, "provider")}
      actions={
        <Button small look="primary" icon="plus" onClick={() => setAdding(BLANK)}>
          Add provider
        </Button>
      }
    >
      <Problem what="Couldn’t load models." error={error} onAgain={() => void providerList.refresh()} />
      {demo && (
        <Strip icon="model">
          <strong>No model yet.</strong> Connect one, or keep the demo: its replies are fixed; the tools, the
          approvals and the record are real.
        </Strip>
      )}
      {connecting && <ConnectModel />}
      {adding && <AddPanel key={adding.base_url} preset={adding} onClose={close} />}
      {!value && !error && <Skeleton label="Loading models…" rows={2} row={160} />}
      {value?.length === 0 && !adding && (
        <Empty icon="model" action={<Button onClick={() => setAdding(BLANK)}>Connect one</Button>}>
          No model yet.
        </Empty>
      )}
      {list.length > 0 && (
        <section>
          <div className="section-head">
            <h2>Providers</h2>
            <span className="dim num">{list.length}</span>
          </div>
          <div className={list.length > 1 ? "cols two" : "stack"}>
            {list.map((provider) => (
              <ProviderCard key={provider.id} provider={provider} />
            ))}
          </div>
        </section>
      )}
      {!demo && value && (
        <OnThisComputer known={list.map((provider) => provider.base_url)} onAdd={setAdding} />
      )}
    </PageFrame>
  );
}

const BLANK: Preset = { name: "", base_url: "", model: "", ask: "address" };

function AddPanel({ preset, onClose }: { preset: Preset; onClose: () => void }) {
  return (
    <section className="panel" aria-label="Add a provider">
      <div className="panel-head">
        <h2>Add a provider</h2>
        <span className="dim">Any OpenAI-compatible API</span>
        <span className="grow" />
        <IconButton icon="x" label="Close the form" onClick={onClose} />
      </div>
      <div className="panel-body">
        <ProviderForm preset={preset} submitLabel="Add provider" onSaved={onClose} onCancel={onClose} />
      </div>
    </section>
  );
}

interface LocalProps {
  known: readonly string[];
  onAdd: (preset: Preset) => void;
}

/** Model servers that answer here and are not providers yet. Nothing is drawn where the server cannot look. */
function OnThisComputer({ known, onAdd }: LocalProps) {
  const { value, again } = useLoaded("local", providers.local);
  if (!value) return null;
  const found = value.servers.filter((server) => !known.includes(server.base_url));
  return (
    <section>
      <div className="section-head">
        <h2>On this computer</h2>
        <span className="dim">
          {found.length > 0
            ? plural(found.length, "model server")
            : "No other local model found (checked ports 11434, 1234, 8080, 8000)"}
        </span>
        <span className="grow" />
        <Button small look="ghost" icon="retry" onClick={again}>
          Rescan
        </Button>
      </div>
      <div className="stack picks">
        {found.map((server) => (
          <div className="pick" key={server.base_url}>
            <span className="grow">
              <b>{server.name}</b>
              <small className="num cut">
                {server.base_url}, {server.models.slice(0, 3).join(", ")}
              </small>
            </span>
            <Button
              small
              onClick={() =>
                onAdd({
                  name: server.name,
                  base_url: server.base_url,
                  model: server.models[0] ?? "",
                  ask: "address",
                })
              }
            >
              Add
            </Button>
          </div>
        ))}
      </div>
    </section>
  );
}
