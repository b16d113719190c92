import { useState } from "react";

import { providers, type NewProvider, type Provider } from "../../api";
import { modelList, providerList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, Problem } from "../../parts";
import { Check, TextField } from "../Field";

export interface Preset {
  name: string;
  base_url: string;
  model: string;
  /** What the form asks for: an address has all fields, a known provider only its key. */
  ask: "address" | "key";
}

interface Props {
  /** The provider to change; without one, a new one is added. */
  provider?: Provider;
  preset?: Preset;
  submitLabel: string;
  /** It is tested next, and becomes the default only when it has answered. */
  tested?: boolean;
  /** The field a person came for. */
  focus?: "key";
  onSaved: (provider: Provider) => void;
  onCancel: () => void;
}

/** A key goes in and never comes out: the field is always empty, and empty leaves what is kept. */
export function ProviderForm({
  provider,
  preset,
  submitLabel,
  tested = false,
  focus,
  onSaved,
  onCancel,
}: Props) {
  const [name, setName] = useState(provider?.name ?? preset?.name ?? "");
  const [baseUrl, setBaseUrl] = useState(provider?.base_url ?? preset?.base_url ?? "");
  const [key, setKey] = useState("");
  const [model, setModel] = useState(provider?.model ?? preset?.model ?? "");
  const [temperature, setTemperature] = useState(asText(provider?.temperature));
  const [wantsDefault, setDefault] = useState(provider?.default ?? true);
  const isDefault = wantsDefault && model.trim() !== "" && !tested;
  const [tried, setTried] = useState(false);
  const { run, busy, error } = useVerb();
  const short = preset?.ask === "key";

  const wrong = tried ? problems(name, baseUrl, temperature, short && !key) : {};
  const save = async () => {
    setTried(true);
    if (Object.keys(problems(name, baseUrl, temperature, short && !key)).length > 0) return;
    const fields: NewProvider = {
      name: name.trim() || hostName(baseUrl),
      base_url: baseUrl.trim(),
      model: model.trim(),
      temperature: temperature.trim() === "" ? null : Number(temperature),
      default: isDefault,
      ...(key && { api_key: key }),
    };
    await run(async () => {
      const answer = await (provider ? providers.change(provider.id, fields) : providers.add(fields));
      await providerList.refresh();
      void modelList.refresh();
      onSaved(answer.provider);
    });
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {!short && (
        <div className="two">
          <TextField
            label="Name"
            value={name}
            onText={setName}
            problem={wrong.name}
            placeholder="My gateway"
          />
          <TextField
            label="Address"
            mono
            type="url"
            value={baseUrl}
            onText={setBaseUrl}
            problem={wrong.base_url}
            placeholder="http://127.0.0.1:8000/v1"
          />
        </div>
      )}
      <div className="two">
        <TextField
          label="Key"
          optional={!short}
          mono
          type="password"
          value={key}
          onText={setKey}
          problem={wrong.api_key}
          autoComplete="new-password"
          autoFocus={focus === "key"}
          help={keyHelp(provider)}
        />
        <TextField
          label="Model"
          optional
          mono
          value={model}
          onText={setModel}
          help="Default model"
          placeholder="glm-4.7"
        />
      </div>
      {!short && (
        <div className={tested ? undefined : "two"}>
          <TextField
            label="Temperature"
            optional
            inputMode="decimal"
            value={temperature}
            onText={setTemperature}
            problem={wrong.temperature}
            help="0 to 2; empty leaves it to the provider."
          />
          {!tested && (
            <div className="field">
              <span className="label">Use</span>
              <Check
                checked={isDefault}
                onCheck={setDefault}
                disabled={!model.trim()}
                help={model.trim() ? "" : "Choose a model first"}
              >
                For new chats
              </Check>
            </div>
          )}
        </div>
      )}
      <Problem what="Couldn’t save." error={error} />
      <div className="panel-foot">
        <Button type="submit" look="primary" disabled={busy}>
          {busy ? "Saving" : submitLabel}
        </Button>
        <Button look="ghost" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

function keyHelp(provider: Provider | undefined): string {
  if (provider?.has_key) return "Saved. Hidden for security. Leave empty to keep it.";
  return "Saved on this computer and hidden. env:NAME reads it from the environment.";
}

type Wrong = Partial<Record<"name" | "base_url" | "temperature" | "api_key", string>>;

function problems(name: string, baseUrl: string, temperature: string, keyMissing: boolean): Wrong {
  const wrong: Wrong = {};
  if (!/^https?:\/\/\S+$/.test(baseUrl.trim()))
    wrong.base_url = "An address that begins with http:// or https://.";
  if (!name.trim() && wrong.base_url) wrong.name = "Enter a name.";
  const degree = Number(temperature);
  if (temperature.trim() !== "" && !(degree >= 0 && degree <= 2)) wrong.temperature = "A number, 0 to 2.";
  if (keyMissing) wrong.api_key = "Enter the key.";
  return wrong;
}

function hostName(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

function asText(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}
