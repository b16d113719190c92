import { useState, type SyntheticEvent } from "react";

import { post, type ProviderInfo, type ProviderTest } from "../api";
import { modelList, providerList } from "../app/resources";
import { useVerb } from "../conversation/useVerb";
import { Button, Icon, duration } from "../parts";

interface Place {
  id: string;
  title: string;
  hint: string;
  verb: string;
  name: string;
  base_url: string;
  model: string;
  needsKey: boolean;
}

const PLACES: readonly Place[] = [
  {
    id: "local",
    title: "On this computer",
    hint: "Ollama at 11434, LM Studio at 1234, llama.cpp at 8080",
    verb: "Enter port",
    name: "Local",
    base_url: "http://127.0.0.1:11434/v1",
    model: "",
    needsKey: false,
  },
  {
    id: "zai",
    title: "Z.AI",
    hint: "GLM-4.7, needs a key",
    verb: "Enter key",
    name: "Z.AI",
    base_url: "https://api.z.ai/api/coding/paas/v4",
    model: "glm-4.7",
    needsKey: true,
  },
  {
    id: "other",
    title: "Any OpenAI-compatible address",
    hint: "vLLM, llama.cpp, a gateway",
    verb: "Enter address",
    name: "My model",
    base_url: "",
    model: "",
    needsKey: true,
  },
];

/** Two steps: where the model runs, then a test of it. */
export function ConnectModel() {
  const [place, setPlace] = useState<Place | null>(null);
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
          {PLACES.map((one) => (
            <div className="pick" key={one.id} aria-current={one === place || undefined}>
              <span className="grow">
                <b>{one.title}</b>
                <small className="num">{one.hint}</small>
              </span>
              <Button small onClick={() => setPlace(one)}>
                {one.verb}
              </Button>
            </div>
          ))}
        </li>
        <li>
          <h3>
            <span className="no">2</span>Test it
          </h3>
          {place ? <TestForm key={place.id} place={place} /> : <BeforeTest />}
        </li>
      </ol>
    </section>
  );
}

function BeforeTest() {
  return (
    <>
      <p className="steps-words">Windlass asks the model for one word and shows what came back.</p>
      <ul className="steps-list">
        {["the address answers", "the key is taken", "the model replies"].map((check) => (
          <li className="note" key={check}>
            <Icon name="queued" />
            <span>{check}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function TestForm({ place }: { place: Place }) {
  const [fields, setFields] = useState({ base_url: place.base_url, api_key: "", model: place.model });
  const [test, setTest] = useState<ProviderTest | null>(null);
  const { run, busy, error } = useVerb();
  const set = (name: keyof typeof fields) => (event: { target: { value: string } }) =>
    setFields({ ...fields, [name]: event.target.value });
  const connect = (event: SyntheticEvent) => {
    event.preventDefault();
    void run(async () => {
      const { provider } = await post<{ provider: ProviderInfo }>("/providers", {
        name: place.name,
        default: true,
        ...fields,
      });
      setTest(await post<ProviderTest>(`/providers/${encodeURIComponent(provider.id)}/test`));
      await Promise.all([providerList.refresh(), modelList.refresh()]);
    });
  };
  return (
    <form className="form" onSubmit={connect}>
      <Text label="Address" value={fields.base_url} onChange={set("base_url")} mono />
      {place.needsKey && <Text label="Key" value={fields.api_key} onChange={set("api_key")} secret />}
      <Text label="Model" value={fields.model} onChange={set("model")} mono />
      {error && (
        <p className="bad" role="alert">
          {error}
        </p>
      )}
      {test && <Outcome test={test} />}
      <div>
        <Button type="submit" look="primary" disabled={busy || !fields.base_url}>
          {busy ? "Testing…" : "Connect and test"}
        </Button>
      </div>
    </form>
  );
}

interface TextProps {
  label: string;
  value: string;
  onChange: (event: { target: { value: string } }) => void;
  mono?: boolean;
  secret?: boolean;
}

function Text({ label, value, onChange, mono, secret }: TextProps) {
  return (
    <label className="field">
      <span className="label">{label}</span>
      <input
        className={mono ? "input mono" : "input"}
        type={secret ? "password" : "text"}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={onChange}
      />
    </label>
  );
}

function Outcome({ test }: { test: ProviderTest }) {
  return (
    <p className={test.ok ? "note" : "note bad"} role="status">
      <Icon name={test.ok ? "check" : "fail"} />
      <span>
        {test.ok ? `${test.model} answered in ${duration(test.took_ms)}.` : `${test.message} ${test.hint}`}
      </span>
    </p>
  );
}
