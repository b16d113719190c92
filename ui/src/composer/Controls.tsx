import { useResource } from "../app/resource";
import { modelList, personaList, providerList } from "../app/resources";
import { Link, paths } from "../app/router";
import { Icon, Menu, type MenuItem } from "../parts";
import { ToolsPicker } from "./ToolsPicker";

interface Props {
  /** "" before the first message: then choices are kept for the conversation to come. */
  conversationId: string;
  choice: Choice;
  onChoose: (fields: Partial<Choice>) => void;
  /** Tools are to be chosen, and there is no conversation yet. */
  onBegin?: () => void;
}

export interface Choice {
  persona: string;
  provider: string;
  model: string;
}

const nothing = () => undefined;

/** Who answers and with what: persona, model, tools. */
export function Controls({ conversationId, choice, onChoose, onBegin = nothing }: Props) {
  return (
    <>
      <PersonaMenu value={choice.persona} onChange={(persona) => onChoose({ persona })} />
      <ModelMenu choice={choice} onChange={(provider, model) => onChoose({ provider, model })} />
      <ToolsPicker conversationId={conversationId} persona={choice.persona} onBegin={onBegin} />
    </>
  );
}

function PersonaMenu({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const personas = useResource(personaList).value ?? [];
  const current =
    personas.find((persona) => persona.id === value) ?? personas.find((one) => one.id === "assistant");
  const items = personas.map((persona): MenuItem => ({
    id: persona.id,
    label: persona.name,
    hint: persona.web_search === "on" ? "searches the web" : "",
    checked: persona === current,
    onSelect: () => onChange(persona.id),
  }));
  return (
    <Menu
      label="Persona"
      side="top"
      align="start"
      items={items}
      footer={<Link href={paths.settings}>Edit personas</Link>}
      trigger={
        <MenuButton className="persona" icon="person" label="Persona" value={current?.name ?? "Assistant"} />
      }
    />
  );
}

function ModelMenu({
  choice,
  onChange,
}: {
  choice: Choice;
  onChange: (provider: string, model: string) => void;
}) {
  const providers = useResource(providerList).value ?? [];
  const models = useResource(modelList).value ?? [];
  const fallback = providers.find((provider) => provider.default) ?? providers[0];
  const shown = choice.model || fallback?.model || "model";
  const nameOf = (id: string) => providers.find((provider) => provider.id === id)?.name ?? "";
  const items = models.map((model): MenuItem => ({
    id: `${model.provider_id}/${model.id}`,
    label: model.id,
    hint: nameOf(model.provider_id),
    checked: model.id === shown && (!choice.provider || choice.provider === model.provider_id),
    onSelect: () => onChange(model.provider_id, model.id),
  }));
  return (
    <Menu
      label="Model"
      side="top"
      align="start"
      items={items}
      footer={<Link href={paths.models}>Connect another model</Link>}
      trigger={<MenuButton className="model" icon="model" label="Model" value={shown} />}
    />
  );
}

interface MenuButtonProps extends Omit<React.ButtonHTMLAttributes<HTMLButtonElement>, "value"> {
  icon: "person" | "model" | "tools";
  label: string;
  value: string;
  extra?: string;
  ref?: React.Ref<HTMLButtonElement>;
}

export function MenuButton({ icon, label, value, extra, className = "", ...rest }: MenuButtonProps) {
  return (
    <button type="button" className={`menu-btn ${className}`} title={label} {...rest}>
      <Icon name={icon} />
      <span className="vh">{label}: </span>
      <span className="cut">{value}</span>
      {extra && <span className="dim cost">{extra}</span>}
      <Icon name="down" />
    </button>
  );
}
