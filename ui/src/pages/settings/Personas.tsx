import { useState } from "react";

import { personas, type Persona, type WebSearch } from "../../api";
import { useResource } from "../../app/resource";
import { modelList, personaList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, Icon, Problem, Segments, Skeleton, Tag } from "../../parts";
import { AreaField, Field, TextField } from "../Field";
import { Sure } from "../Sure";
import { Section } from "./Section";

const SEARCHES = [
  { value: "auto", label: "With //" },
  { value: "on", label: "Always" },
  { value: "off", label: "Never" },
] as const;

const NEW: Persona = {
  id: "",
  name: "",
  system_prompt: "",
  model: "",
  temperature: null,
  web_search: "auto",
  tools: [],
  builtin: false,
};

export function Personas() {
  const { value, error } = useResource(personaList);
  const [open, setOpen] = useState("");
  return (
    <Section id="personas" title="Personas" words="A system prompt, a model and tools under one name.">
      <Problem what="Couldn’t load personas." error={error} onAgain={() => void personaList.refresh()} />
      {!value && !error && <Skeleton label="Loading personas…" rows={3} row={45} />}
      {value && (
        <ul className="personas">
          {value.map((persona) => (
            <li key={persona.id}>
              <button
                type="button"
                className="persona-head"
                aria-expanded={open === persona.id}
                onClick={() => setOpen(open === persona.id ? "" : persona.id)}
              >
                <Icon name={open === persona.id ? "down" : "right"} className="dim" />
                <b>{persona.name}</b>
                {persona.builtin && <Tag>built in</Tag>}
                <span className="cut dim">{persona.system_prompt}</span>
              </button>
              {open === persona.id && <PersonaForm persona={persona} onClose={() => setOpen("")} />}
            </li>
          ))}
          {open === "new" && (
            <li>
              <PersonaForm persona={NEW} onClose={() => setOpen("")} />
            </li>
          )}
        </ul>
      )}
      {open !== "new" && (
        <div className="panel-foot">
          <Button icon="plus" onClick={() => setOpen("new")}>
            Add a persona
          </Button>
        </div>
      )}
    </Section>
  );
}

function PersonaForm({ persona, onClose }: { persona: Persona; onClose: () => void }) {
  const [name, setName] = useState(persona.name);
  const [prompt, setPrompt] = useState(persona.system_prompt);
  const [model, setModel] = useState(persona.model);
  const [temperature, setTemperature] = useState(
    persona.temperature === null ? "" : String(persona.temperature),
  );
  const [search, setSearch] = useState<WebSearch>(persona.web_search);
  const [tools, setTools] = useState(persona.tools.join("\n"));
  const [tried, setTried] = useState(false);
  const { run, busy, error } = useVerb();
  const degree = Number(temperature);
  const badDegree = temperature.trim() !== "" && !(degree >= 0 && degree <= 2);
  const save = async () => {
    setTried(true);
    if (!name.trim() || badDegree) return;
    const fields = {
      name: name.trim(),
      system_prompt: prompt,
      model: model.trim(),
      temperature: temperature.trim() === "" ? null : degree,
      web_search: search,
      tools: tools
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean),
    };
    const done = await run(() => (persona.id ? personas.change(persona.id, fields) : personas.add(fields)));
    if (done) await closed();
  };
  const closed = async () => {
    await personaList.refresh();
    onClose();
  };
  const forget = async () => {
    if (await run(() => personas.delete(persona.id))) await closed();
  };
  return (
    <form
      className="form persona-form"
      aria-label={persona.name || "New persona"}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div className="two">
        <TextField
          label="Name"
          value={name}
          onText={setName}
          problem={tried && !name.trim() ? "Enter a name." : ""}
        />
        <ModelField value={model} onText={setModel} />
      </div>
      <AreaField label="System prompt" optional rows={6} value={prompt} onText={setPrompt} />
      <div className="two">
        <AreaField
          label="Tools"
          optional
          mono
          rows={3}
          value={tools}
          onText={setTools}
          help="One pattern per line, as server.tool; * is anything."
          placeholder="files.*"
        />
        <div className="form">
          <div className="field">
            <span className="label">Searches the web</span>
            <span>
              <Segments label="Searches the web" value={search} options={SEARCHES} onChange={setSearch} />
            </span>
          </div>
          <TextField
            label="Temperature"
            optional
            inputMode="decimal"
            value={temperature}
            onText={setTemperature}
            problem={badDegree ? "A number, 0 to 2." : ""}
          />
        </div>
      </div>
      <Problem what="Couldn’t save." error={error} />
      <div className="panel-foot">
        <Button type="submit" look="primary" disabled={busy}>
          {persona.id ? "Save" : "Add persona"}
        </Button>
        <Button look="ghost" onClick={onClose}>
          Cancel
        </Button>
        <span className="grow" />
        {persona.id && !persona.builtin && (
          <Sure
            ask="Delete…"
            question="Delete persona? It can’t be recovered."
            act="Delete"
            disabled={busy}
            onSure={() => void forget()}
          />
        )}
      </div>
    </form>
  );
}

/** Free text, with the models that are known to choose from. */
function ModelField({ value, onText }: { value: string; onText: (value: string) => void }) {
  const { value: models } = useResource(modelList);
  return (
    <Field label="Model" optional help="Empty uses the default one.">
      {(ids) => (
        <>
          <input
            className="input mono"
            value={value}
            onChange={(event) => onText(event.target.value)}
            list={`${ids.id}-models`}
            autoComplete="off"
            spellCheck={false}
            {...ids}
          />
          <datalist id={`${ids.id}-models`}>
            {models?.map((model) => (
              <option key={`${model.provider_id} ${model.id}`} value={model.id} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
