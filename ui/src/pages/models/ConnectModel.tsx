import { useState } from "react";

import { providers, type LocalServer, type Provider } from "../../api";
import { providerList } from "../../app/resources";
import { Link, paths } from "../../app/router";
import { useVerb } from "../../conversation/useVerb";
import { Banner, Button, plural } from "../../parts";
import { useLoaded } from "../useLoaded";
import { Abilities } from "./Abilities";
import { ProviderForm, type Preset } from "./ProviderForm";
import { useTest } from "./useTest";

const ZAI: Preset = {
  name: "Z.AI",
  base_url: "https://api.z.ai/api/coding/paas/v4",
  model: "glm-4.7",
  ask: "key",
};
const ADDRESS: Preset = { name: "", base_url: "", model: "", ask: "address" };

/** Two steps: where the model runs, then whether it can call tools. New chats use it once it has answered. */
export function ConnectModel() {
  const [preset, setPreset] = useState<Preset | null>(null);
  const [added, setAdded] = useState<Provider | null>(null);
  const { test, busy, error, begin } = useTest();
  const choosing = useVerb();
  const check = async (id: string) => {
    if (await begin(id)) await choose(id);
  };
  const choose = async (id: string) => {
    await choosing.run(() => providers.change(id, { default: true }));
    await providerList.refresh();
  };
  const saved = (provider: Provider) => {
    setAdded(provider);
    setPreset(null);
    void check(provider.id);
  };
  return (
    <section className="panel" aria-label="Connect a model">
      <div className="panel-head">
        <h2>Connect a model</h2>
        <span className="dim">two steps, about a minute</span>
      </div>
      <ol className="steps">
        <li>
          <h3>
            <span className="no">1</span>Choose where it runs
          </h3>
          {preset ? (
            <ProviderForm
              key={preset.base_url}
              preset={preset}
              submitLabel="Save and test"
              tested
              onSaved={saved}
              onCancel={() => setPreset(null)}
            />
          ) : (
            <Places added={added} onPick={setPreset} />
          )}
        </li>
        <li>
          <h3>
            <span className="no">2</span>Test it
          </h3>
          <p className="steps-words">Windlass asks the model to call tools and shows what it gets right.</p>
          <Abilities test={test} busy={busy} />
          <Outcome
            added={added}
            ok={test && !choosing.error ? test.ok : null}
            words={error || choosing.error || outcomeText(test)}
            onAgain={check}
            busy={busy || choosing.busy}
          />
        </li>
      </ol>
    </section>
  );
}

function Places({ added, onPick }: { added: Provider | null; onPick: (preset: Preset) => void }) {
  const { value, error, again } = useLoaded("local", providers.local);
  const found = value?.servers ?? [];
  return (
    <>
      {added && (
        <div className="pick">
          <span className="grow">
            <b>{added.name}</b>
            <small>{added.base_url}</small>
          </span>
        </div>
      )}
      {found.map((server) => (
        <div className="pick" key={server.base_url}>
          <span className="grow">
            <b>{server.name}, on this computer</b>
            <small className="num cut">{localText(server)}</small>
          </span>
          <Button small onClick={() => onPick(presetOf(server))}>
            Use it
          </Button>
        </div>
      ))}
      {found.length === 0 && (
        <div className="pick">
          <span className="grow">
            <b>On this computer</b>
            <small className="num">
              {value
                ? "No local model found (checked ports 11434, 1234, 8080, 8000)"
                : error
                  ? "could not look"
                  : "looking"}
            </small>
          </span>
          <Button small onClick={again}>
            Rescan
          </Button>
        </div>
      )}
      <div className="pick">
        <span className="grow">
          <b>Z.AI</b>
          <small>GLM-4.7, needs a key</small>
        </span>
        <Button small onClick={() => onPick(ZAI)}>
          Enter key
        </Button>
      </div>
      <div className="pick">
        <span className="grow">
          <b>Any OpenAI-compatible address</b>
          <small>vLLM, llama.cpp, a gateway</small>
        </span>
        <Button small onClick={() => onPick(ADDRESS)}>
          Enter address
        </Button>
      </div>
    </>
  );
}

interface OutcomeProps {
  added: Provider | null;
  ok: boolean | null;
  words: string;
  busy: boolean;
  onAgain: (id: string) => Promise<void>;
}

function Outcome({ added, ok, words, busy, onAgain }: OutcomeProps) {
  if (!added || busy || (ok === null && !words)) return null;
  const again = (
    <Button small onClick={() => onAgain(added.id)}>
      Test again
    </Button>
  );
  if (!ok)
    return (
      <Banner tone="bad" icon="fail" role="alert" actions={again}>
        <strong>New chats don’t use {added.name} yet.</strong> {words}
      </Banner>
    );
  return (
    <Banner icon="check" role="status" actions={<Start />}>
      <strong>{added.name} is connected.</strong> New chats use it.
    </Banner>
  );
}

function Start() {
  return (
    <Link href={paths.home} onClick={() => dispatchEvent(new Event("windlass:compose"))}>
      Start a chat
    </Link>
  );
}

function outcomeText(test: { message: string; hint: string } | null): string {
  return test ? [test.message, test.hint].filter(Boolean).join(" ") : "";
}

function presetOf(server: LocalServer): Preset {
  return { name: server.name, base_url: server.base_url, model: server.models[0] ?? "", ask: "address" };
}

function localText(server: LocalServer): string {
  return `${server.base_url}, ${plural(server.models.length, "model")}`;
}
