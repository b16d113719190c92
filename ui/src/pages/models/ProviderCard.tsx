import { useState } from "react";

import { providers, type ModelList, type Provider, type ProviderChange, type ProviderTest } from "../../api";
import { modelList, providerList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Banner, Button, Fold, InPlace, Problem, Quoted, Skeleton, Tag, duration, plural } from "../../parts";
import { firstSentence } from "../../state";
import { Sure } from "../Sure";
import { useLoaded } from "../useLoaded";
import { factsOf, sourceOf } from "./facts";
import { Abilities } from "./Abilities";
import { ProviderForm } from "./ProviderForm";
import { useTest } from "./useTest";

/** One place models come from. */
export function ProviderCard({ provider }: { provider: Provider }) {
  const [editing, setEditing] = useState<"all" | "key" | "">("");
  const { run, busy, error } = useVerb();
  const testing = useTest();
  const listed = useLoaded(provider.demo ? "" : `${provider.id} ${provider.base_url}`, () =>
    providers.models(provider.id),
  );
  const save = async (fields: ProviderChange) => {
    await providers.change(provider.id, fields);
    await providerList.refresh();
    void modelList.refresh();
  };
  const act = (doing: () => Promise<unknown>) =>
    run(doing).then(async () => {
      await providerList.refresh();
      void modelList.refresh();
    });
  return (
    <section className="panel" aria-label={provider.name}>
      <div className="panel-head">
        <h3>{provider.name}</h3>
        {provider.default && <Tag tone="accent">default</Tag>}
        {provider.demo && <Tag>demo</Tag>}
        <span className="grow" />
        <Button small icon="play" disabled={testing.busy} onClick={() => testing.begin(provider.id)}>
          {testing.busy ? "Testing" : "Test"}
        </Button>
      </div>
      <div className="panel-body">
        {editing ? (
          <ProviderForm
            provider={provider}
            submitLabel="Save"
            {...(editing === "key" && { focus: "key" })}
            onSaved={() => {
              setEditing("");
              listed.again();
            }}
            onCancel={() => setEditing("")}
          />
        ) : (
          <>
            <Facts provider={provider} onSave={save} />
            <TestResult
              testing={testing}
              provider={provider}
              onKey={provider.from_config ? undefined : () => setEditing("key")}
            />
            {!provider.demo && (
              <ModelsOf
                provider={provider}
                listed={listed}
                busy={busy}
                onUse={(model) => act(() => providers.change(provider.id, { model }))}
              />
            )}
            <div className="panel-foot">
              <Foot provider={provider} busy={busy} act={act} onEdit={() => setEditing("all")} />
            </div>
            <Fault listed={listed} onKey={provider.from_config ? undefined : () => setEditing("key")} />
          </>
        )}
        <Problem what="Couldn’t save." error={error} />
      </div>
    </section>
  );
}

type Listed = ReturnType<typeof useLoaded<ModelList>>;

/** Why the provider cannot be used now, as its own server says it, and one next step. */
function Fault({ listed, onKey }: { listed: Listed; onKey: (() => void) | undefined }) {
  const fault = listed.value?.error;
  if (!fault) return null;
  const [statement] = firstSentence(fault.message); // the details after it are in the test's result
  const next =
    KEY_FAULTS.has(fault.code) && onKey ? (
      <Button small onClick={onKey}>
        Update key
      </Button>
    ) : (
      <Button small onClick={listed.again}>
        Try again
      </Button>
    );
  return (
    <Banner tone="bad" icon="fail" role="status" actions={next}>
      <Quoted text={[statement, KEY_FAULTS.has(fault.code) ? "" : fault.hint].filter(Boolean).join(" ")} />
    </Banner>
  );
}

const KEY_FAULTS = new Set<string>(["auth", "account", "forbidden"]);

interface FactsProps {
  provider: Provider;
  onSave: (fields: ProviderChange) => Promise<void>;
}

function Facts({ provider, onSave }: FactsProps) {
  if (provider.demo)
    return (
      <p>The model’s replies are fixed. The tools, the approvals and the record are real. It needs no key.</p>
    );
  const fixed = provider.from_config ? "Set in windlass.toml or the environment; edit it there" : "";
  return (
    <dl className="facts">
      <dt>Address</dt>
      <dd>
        <code>{provider.base_url}</code>
      </dd>
      <dt>Model</dt>
      <dd>
        <InPlace
          mono
          label="Model"
          value={provider.model}
          empty="Choose a model first"
          fixed={fixed}
          onSave={(model) => onSave({ model })}
        />
      </dd>
      <dt>Key</dt>
      <dd>{provider.has_key ? "Saved. Hidden for security." : <span className="dim">none</span>}</dd>
      {provider.fallback.length > 0 && (
        <>
          <dt>If it cannot answer</dt>
          <dd>
            <code>{provider.fallback.join(", ")}</code>
          </dd>
        </>
      )}
      <dt>Temperature</dt>
      <dd className="num">
        <InPlace
          label="Temperature"
          value={provider.temperature === null ? "" : String(provider.temperature)}
          empty="provider’s own"
          fixed={fixed}
          onSave={(text) => onSave({ temperature: degreeOf(text) })}
        />
      </dd>
    </dl>
  );
}

/** Empty leaves it to the provider. */
function degreeOf(text: string): number | null {
  if (text === "") return null;
  const degree = Number(text.replace(",", "."));
  if (!(degree >= 0 && degree <= 2)) throw new Error("A number, 0 to 2. Empty leaves it to the provider.");
  return degree;
}

interface FootProps {
  provider: Provider;
  busy: boolean;
  act: (doing: () => Promise<unknown>) => Promise<unknown>;
  onEdit: () => void;
}

function Foot({ provider, busy, act, onEdit }: FootProps) {
  if (provider.demo) return null;
  if (provider.from_config)
    return (
      <span className="dim">
        Set in <code className="mono">windlass.toml</code> or the environment; edit it there.
      </span>
    );
  const makeDefault = !provider.default && (
    <Button
      small
      disabled={busy || !provider.model}
      onClick={() => act(() => providers.change(provider.id, { default: true }))}
    >
      {provider.model ? "Make default" : "Choose a model first"}
    </Button>
  );
  return (
    <>
      <Button small onClick={onEdit}>
        Edit
      </Button>
      {makeDefault}
      <span className="grow" />
      {provider.has_key && (
        <Sure
          small
          ask="Delete key…"
          question="Delete key? It can’t be recovered."
          act="Delete"
          disabled={busy}
          onSure={() => void act(() => providers.change(provider.id, { api_key: "" }))}
        />
      )}
      <Sure
        small
        ask="Remove…"
        question="Remove provider and its key? It can’t be recovered."
        act="Remove"
        disabled={busy}
        onSure={() => void act(() => providers.forget(provider.id))}
      />
    </>
  );
}

interface Testing {
  test: ProviderTest | null;
  busy: boolean;
  error: string;
}

interface ResultProps {
  testing: Testing;
  provider: Provider;
  onKey: (() => void) | undefined;
}

function TestResult({ testing: { test, busy, error }, provider, onKey }: ResultProps) {
  if (error) return <Problem what="Test didn’t run." error={error} />;
  const update = onKey && (
    <Button small onClick={onKey}>
      Update key
    </Button>
  );
  if (!test && !busy) return null;
  return (
    <>
      <Abilities test={test} busy={busy} />
      {test && !test.ok && (
        <Banner
          tone="bad"
          icon="fail"
          role="alert"
          actions={test.message.includes("rejected the API key") && update}
        >
          <strong>{provider.name} does not answer.</strong>{" "}
          {[test.message, test.hint].filter(Boolean).join(" ")}
        </Banner>
      )}
      {test?.ok && (
        <p className="dim num" role="status">
          {test.model} answered in {duration(test.took_ms)}.
        </p>
      )}
    </>
  );
}

interface ModelsProps {
  provider: Provider;
  listed: Listed;
  busy: boolean;
  onUse: (model: string) => void;
}

const MANY = 12;

function ModelsOf({ provider, listed: { value, error, again }, busy, onUse }: ModelsProps) {
  const [open, setOpen] = useState(false);
  const [all, setAll] = useState(false);
  const models = value?.models ?? [];
  const shown = all ? models : models.slice(0, MANY);
  return (
    <div className="models-of">
      <Fold
        icon="model"
        title={value ? plural(models.length, "model") : "Models"}
        open={open}
        onToggle={() => setOpen(!open)}
      />
      {open && <Problem what="Couldn’t load models." error={error} onAgain={again} />}
      {open && !error && !value && <Skeleton label="Loading models…" rows={3} row={36} />}
      {open && value && (
        <ul className="model-list">
          {shown.map(({ id, ...facts }) => (
            <li key={id}>
              <code className="mono cut">{id}</code>
              <span className="dim num" title={sourceOf(facts)}>
                {factsOf(facts)}
              </span>
              <span className="grow" />
              {id === provider.model ? (
                <Tag>in use</Tag>
              ) : (
                !provider.from_config &&
                !provider.demo && (
                  <Button
                    small
                    look="ghost"
                    disabled={busy}
                    aria-label={`Use ${id}`}
                    onClick={() => onUse(id)}
                  >
                    Use
                  </Button>
                )
              )}
            </li>
          ))}
        </ul>
      )}
      {open && models.length > shown.length && (
        <Button small look="ghost" onClick={() => setAll(true)}>
          All {models.length}
        </Button>
      )}
    </div>
  );
}
