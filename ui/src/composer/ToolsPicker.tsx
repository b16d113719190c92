import { useEffect, useState } from "react";

import { personas, type AvailableTool } from "../api";
import { useResource } from "../app/resource";
import { personaList } from "../app/resources";
import { Link, navigate, paths } from "../app/router";
import { toolsOf } from "../conversation/toolbox";
import { useVerb } from "../conversation/useVerb";
import { Icon, LinkButton, Popover, Segments, Skeleton, grouped, plural, tokens } from "../parts";
import { MenuButton } from "./Controls";
import { ToolGroup } from "./ToolGroup";
import { useDefaultTools } from "./defaultTools";
import { groupsOf, matching, switchTools } from "./toolChoice";

interface Props {
  conversationId: string;
  persona: string;
  /** Makes the conversation when there is none yet. */
  onBegin: () => void;
}

/** Which tools this conversation has, what each costs in every request, and whether each asks. */
export function ToolsPicker({ conversationId, persona, onBegin }: Props) {
  const before = useDefaultTools(conversationId === "");
  return conversationId ? (
    <LoadedPicker key={conversationId} id={conversationId} persona={persona} />
  ) : (
    <Trigger on={before.count} cost={before.sent} onClick={onBegin} />
  );
}

/** The conversation that was made in order to choose its tools: its picker is open when its page comes. */
let wanted = "";

export function wantTools(conversationId: string): void {
  wanted = conversationId;
}

interface TriggerProps extends Omit<React.ButtonHTMLAttributes<HTMLButtonElement>, "value"> {
  on: number;
  cost: number;
  ref?: React.Ref<HTMLButtonElement>;
}

function Trigger({ on, cost, ...rest }: TriggerProps) {
  const value = on === 0 ? "No tools" : plural(on, "tool");
  return (
    <MenuButton
      className="tools"
      icon="tools"
      label="Tools"
      value={value}
      extra={cost > 0 ? `${tokens(cost)} tokens` : ""}
      {...rest}
    />
  );
}

interface LoadedProps {
  id: string;
  persona: string;
}

function LoadedPicker({ id, persona }: LoadedProps) {
  const [open, onOpen] = useState(() => id === wanted);
  useEffect(
    () => () => {
      wanted = "";
    },
    [],
  );
  const resource = toolsOf(id);
  const { value, error } = useResource(resource);
  useEffect(() => {
    if (open) void resource.refresh();
  }, [open, resource]);
  const available = value?.available_tools ?? [];
  const on = available.filter((tool) => tool.enabled);
  const searched = value?.cost?.exceeded ?? false;
  const cost = tokensOf(searched ? listed(on) : on);
  return (
    <Popover
      label="Tools of this chat"
      className="tools-pop"
      beside=".composer"
      open={open}
      onOpenChange={onOpen}
      trigger={<Trigger on={on.length} cost={cost} />}
    >
      <Inside
        id={id}
        persona={persona}
        available={available}
        loaded={value !== null}
        error={error}
        on={on}
        cost={cost}
        searched={searched}
        onClose={() => onOpen(false)}
      />
      {value?.warning && (
        <p className="note pop-note">
          <Icon name="info" />
          <span>{value.warning}</span>
        </p>
      )}
      {value?.unavailable.map((server) => (
        <p className="note pop-note" key={server.server_slug}>
          <Icon name="info" />
          <span>
            {server.server_slug}{" "}
            {server.status === "needs_sign_in" ? (
              <>
                needs you to sign in: <Link href={paths.servers}>Servers</Link>.
              </>
            ) : (
              `is ${server.status}; its tools cannot be offered now.`
            )}
          </span>
        </p>
      ))}
    </Popover>
  );
}

function listed(tools: readonly AvailableTool[]): AvailableTool[] {
  return tools.filter((tool) => tool.listed);
}

function tokensOf(tools: readonly AvailableTool[]): number {
  return tools.reduce((sum, tool) => sum + tool.tokens, 0);
}

interface InsideProps {
  id: string;
  persona: string;
  available: readonly AvailableTool[];
  loaded: boolean;
  on: readonly AvailableTool[];
  /** Of those that each request lists. */
  cost: number;
  /** Too many for each request: the model searches for the others. */
  searched: boolean;
  error: string;
  onClose: () => void;
}

function Inside({ id, persona, available, loaded, on, cost, searched, error, onClose }: InsideProps) {
  const [words, setWords] = useState("");
  const [show, setShow] = useState<"all" | "on">("all");
  const saving = useVerb();
  const who = useResource(personaList).value?.find((one) => one.id === (persona || "assistant"));
  const shown = matching(show === "on" ? on : available, words);
  const save = () =>
    who &&
    saving.run(() =>
      personas.change(who.id, { tools: on.map((tool) => `${tool.server_slug}.${tool.tool_name}`) }),
    );
  return (
    <>
      <div className="pop-head">
        <Icon name="search" />
        <input
          aria-label="Search tools"
          placeholder={`Search ${plural(available.length, "tool")}`}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <Segments
          kind="tabs"
          label="Show"
          value={show}
          onChange={setShow}
          options={[
            { value: "all", label: "All" },
            { value: "on", label: `On, ${on.length}` },
          ]}
        />
      </div>
      <div className="pop-list" tabIndex={0} role="group" aria-label="Tools">
        {error && <p className="bad pop-note">{error}</p>}
        {!loaded && !error && <Skeleton label="Loading tools…" rows={5} row={36} />}
        {loaded && available.length === 0 && !error && (
          <p className="dim pop-note">
            No server is running. <Link href={paths.servers}>Open servers</Link>
          </p>
        )}
        {groupsOf(shown).map(([server, tools]) => (
          <ToolGroup key={server} id={id} server={server} tools={tools} searched={searched} />
        ))}
        {available.length > 0 && shown.length === 0 && <p className="dim pop-note">Nothing matches.</p>}
      </div>
      <div className="pop-foot">
        <div className="line">
          <span>
            {on.length === 0
              ? "No tools on."
              : `${plural(on.length, "tool")} on, ${searched ? `${grouped(listed(on).length)} listed, ` : ""}${grouped(cost)} tokens in every request`}
          </span>
        </div>
        <div className="line">
          {who && !who.builtin && (
            <LinkButton disabled={saving.busy} onClick={save}>
              Save as default for {who.name}
            </LinkButton>
          )}
          {saving.error && <span className="bad">{saving.error}</span>}
          <span className="grow" />
          <LinkButton disabled={on.length === 0} onClick={() => void switchTools(id, on, false)}>
            Turn all off
          </LinkButton>
          <LinkButton
            onClick={() => {
              onClose();
              navigate(paths.servers);
            }}
          >
            Open servers
          </LinkButton>
        </div>
      </div>
    </>
  );
}
