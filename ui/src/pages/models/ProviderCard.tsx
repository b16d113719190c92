import { useState } from "react";

import { providers, type Provider, type ProviderTest } from "../../api";
import { modelList, providerList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Banner, Button, Fold, Tag, duration, plural } from "../../parts";
import { Problem } from "../Problem";
import { Sure } from "../Sure";
import { useLoaded } from "../useLoaded";
import { factsOf, sourceOf } from "./facts";
import { Abilities } from "./Abilities";
import { ProviderForm } from "./ProviderForm";
import { useTest } from "./useTest";

/** One place models come from. */
export function ProviderCard({ provider }: { provider: Provider }) {
  const [editing, setEditing] = useState(false);
  const { run, busy, error } = useVerb();
  const testing = useTest();
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
            onSaved={() => setEditing(false)}
            onCancel={() => setEditing(false)}
          />
        ) : (
          <>
            <Facts provider={provider} />
            <TestResult testing={testing} provider={provider} />
            <ModelsOf
              provider={provider}
              busy={busy}
              onUse={(model) => act(() => providers.change(provider.id, { model }))}
            />
            <div className="panel-foot">
              <Foot provider={provider} busy={busy} act={act} onEdit={() => setEditing(true)} />
            </div>
          </>
        )}
        <Problem what="That did not work." error={error} />
      </div>
    </section>
  );
}

function Facts({ provider }: { provider: Provider }) {
  if (provider.demo)
    return (
      <p>The model’s replies are fixed. The tools, the approvals and the record are real. It needs no key.</p>
    );
  return (
    <dl className="facts">
      <dt>Address</dt>
      <dd>
        <code>{provider.base_url}</code>
      </dd>
      <dt>Model</dt>
      <dd>{provider.model ? <code>{provider.model}</code> : <span className="dim">none chosen</span>}</dd>
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
      {provider.temperature !== null && (
        <>
          <dt>Temperature</dt>
          <dd className="num">{provider.temperature}</dd>
        </>
      )}
    </dl>
  );
}

interface FootProps {
  provider: Provider;
  busy: boolean;
  act: (doing: () => Promise<unknown>) => Promise<unknown>;
  onEdit: () => void;
}

function Foot({ provider, busy, act, onEdit }: FootProps) {
  const makeDefault = !provider.default && (
    <Button small disabled={busy} onClick={() => act(() => providers.change(provider.id, { default: true }))}>
      Make default
    </Button>
  );
  if (provider.demo) return makeDefault || null;
  if (provider.from_config)
    return (
      <>
        {makeDefault}
        <span className="dim">
          Set in <code className="mono">windlass.toml</code> or the environment; change it there.
        </span>
      </>
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
          ask="Forget the key…"
          question="The key is lost."
          act="Forget it"
          disabled={busy}
          onSure={() => void act(() => providers.change(provider.id, { api_key: "" }))}
        />
      )}
      <Sure
        small
        ask="Remove…"
        question="The provider and its key are lost."
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

function TestResult({ testing: { test, busy, error }, provider }: { testing: Testing; provider: Provider }) {
  if (error) return <Problem what="It was not tested." error={error} />;
  if (!test && !busy) return null;
  return (
    <>
      <Abilities test={test} busy={busy} />
      {test && !test.ok && (
        <Banner tone="bad" icon="fail" role="alert">
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
  busy: boolean;
  onUse: (model: string) => void;
}

const MANY = 12;

function ModelsOf({ provider, busy, onUse }: ModelsProps) {
  const [open, setOpen] = useState(false);
  const [all, setAll] = useState(false);
  const { value, error } = useLoaded(open ? provider.id : "", () => providers.models(provider.id));
  const models = value?.models ?? [];
  const unlisted = error || [value?.error?.message, value?.error?.hint].filter(Boolean).join(" ");
  const shown = all ? models : models.slice(0, MANY);
  return (
    <div className="models-of">
      <Fold
        icon="model"
        title={value ? plural(models.length, "model") : "Models"}
        open={open}
        onToggle={() => setOpen(!open)}
      />
      {open && unlisted && <p className="dim">They cannot be listed. {unlisted}</p>}
      {open && !error && !value && <p className="dim">Asking for the list…</p>}
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
