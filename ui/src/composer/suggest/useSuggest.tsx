import {
  useId,
  useState,
  type AriaAttributes,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from "react";

import { servers, type AvailableTool } from "../../api";
import { useVerb } from "../../conversation/useVerb";
import type { Attached } from "../attached";
import { ArgumentsForm } from "./ArgumentsForm";
import { PickList } from "./PickList";
import { usePicks, type Pick } from "./picks";
import { expanded } from "./template";
import { replaced, triggerAt, type Trigger } from "./trigger";

interface Options {
  box: RefObject<HTMLTextAreaElement | null>;
  text: string;
  onText: (text: string) => void;
  onAttach: (one: Attached) => void;
  tools: readonly AvailableTool[];
}

interface Suggest {
  popover: ReactNode;
  /** What of a prompt is not in the text, or why it could not be filled in. */
  notes: readonly string[];
  /** Whether the key was meant for the list. */
  onKeyDown: (event: KeyboardEvent) => boolean;
  onCaret: (caret: number) => void;
  aria: AriaAttributes;
}

/** `/` opens prompts, `@` resources and tools; a pick asks for its arguments, then stands in the message or beside it. */
export function useSuggest({ box, text, onText, onAttach, tools }: Options): Suggest {
  const list = useId();
  const [caret, setCaret] = useState(0);
  const [closed, setClosed] = useState("");
  const [at, setAt] = useState({ key: "", index: 0 });
  const [form, setForm] = useState<{ pick: Pick; trigger: Trigger } | null>(null);
  const [notes, setNotes] = useState<readonly string[]>([]);
  const filling = useVerb();
  const trigger = form ? null : triggerAt(text, caret);
  const key = trigger ? `${trigger.kind}${trigger.start}` : "";
  const picks = usePicks(trigger, tools);
  const open = trigger !== null && key !== closed && picks !== null && picks.length > 0;
  const query = `${key} ${trigger?.query ?? ""}`;
  const active = open && at.key === query ? Math.min(at.index, picks.length - 1) : 0;
  if (!trigger && closed && !form) setClosed("");

  const put = (where: Trigger, by: string) => {
    const next = replaced(text, where, by);
    onText(next.text);
    setCaret(next.caret);
    setForm(null);
    requestAnimationFrame(() => {
      box.current?.focus();
      box.current?.setSelectionRange(next.caret, next.caret);
    });
  };
  const insert = async (where: Trigger, pick: Pick & { kind: "prompt" }, given: Record<string, string>) => {
    const filled = await servers.fillPrompt(pick.server, { name: pick.prompt.name, arguments: given });
    setNotes(filled.notes);
    put(where, filled.text);
  };
  const attach = (where: Trigger, server: string, uri: string) => {
    onAttach({ server, uri });
    put(where, "");
  };
  const take = (pick: Pick) => {
    if (!trigger) return;
    setNotes([]);
    if (pick.kind === "tool") put(trigger, `@${pick.server}.${pick.tool.tool_name}`);
    else if (pick.kind === "resource") attach(trigger, pick.server, pick.resource.uri);
    else if (pick.kind === "prompt" && pick.prompt.arguments.length === 0)
      void filling.run(() => insert(trigger, pick, {}));
    else setForm({ pick, trigger });
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!open || event.nativeEvent.isComposing) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const pick = picks[active];
    if (step) setAt({ key: query, index: (active + step + picks.length) % picks.length });
    else if (event.key === "Escape") setClosed(key);
    else if ((event.key === "Enter" && !event.shiftKey) || (event.key === "Tab" && !event.shiftKey)) {
      if (pick) take(pick);
    } else return false;
    event.preventDefault();
    return true;
  };

  return {
    popover: form ? (
      <FormOf
        pick={form.pick}
        onInsert={(pick, given) => insert(form.trigger, pick, given)}
        onAttach={(server, uri) => attach(form.trigger, server, uri)}
        onBack={() => {
          setForm(null);
          setClosed(`${form.trigger.kind}${form.trigger.start}`);
          box.current?.focus();
        }}
      />
    ) : open ? (
      <PickList id={list} kind={trigger.kind} picks={picks} active={active} onTake={take} />
    ) : null,
    notes: filling.error ? [filling.error] : notes,
    onKeyDown,
    onCaret: setCaret,
    aria: {
      "aria-autocomplete": "list",
      "aria-haspopup": "listbox",
      "aria-controls": open ? list : undefined,
      "aria-activedescendant": open ? `${list}-${active}` : undefined,
    },
  };
}

interface FormProps {
  pick: Pick;
  onInsert: (pick: Pick & { kind: "prompt" }, given: Record<string, string>) => Promise<unknown>;
  onAttach: (server: string, uri: string) => void;
  onBack: () => void;
}

function FormOf({ pick, onInsert, onAttach, onBack }: FormProps) {
  if (pick.kind === "prompt")
    return (
      <ArgumentsForm
        title={pick.label}
        server={pick.server}
        description={pick.hint}
        fields={pick.prompt.arguments}
        completes={pick.completes ? { prompt: pick.prompt.name } : null}
        act="Insert"
        onDone={(given) => onInsert(pick, given)}
        onBack={onBack}
      />
    );
  if (pick.kind !== "template") return null;
  const { template } = pick;
  return (
    <ArgumentsForm
      title={pick.label}
      server={pick.server}
      description={template.description || template.uri_template}
      fields={template.arguments.map((name) => ({ name, title: "", description: "", required: false }))}
      completes={{ template: template.uri_template }}
      act="Attach"
      onDone={(given) => onAttach(pick.server, expanded(template.uri_template, given))}
      onBack={onBack}
    />
  );
}
