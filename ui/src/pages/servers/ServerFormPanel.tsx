import { useEffect, useRef, useState } from "react";

import { ApiError, servers, errorText, type Approval, type Server } from "../../api";
import { serverList } from "../../app/resources";
import { Button, Fold, IconButton, Problem, Segments } from "../../parts";
import { AreaField, Check, SelectField, TextField } from "../Field";
import { EMPTY_FORM, fieldsOf, formOf, problemsOf, spread, type Problems, type ServerForm } from "./fields";

interface Props {
  /** The server to change; without one, a new server is added. */
  server?: Server;
  onClose: () => void;
  onImport?: () => void;
}

const TRANSPORTS = [
  { value: "stdio", label: "stdio" },
  { value: "http", label: "HTTP" },
  { value: "sse", label: "SSE" },
] as const;

const APPROVALS: readonly (readonly [Approval | "", string])[] = [
  ["", "Default for this chat"],
  ["auto", "Auto: runs without asking"],
  ["ask", "Ask: approve each call"],
  ["deny", "Deny: never runs"],
];

export function ServerFormPanel({ server, onClose, onImport }: Props) {
  const [form, setForm] = useState<ServerForm>(server ? formOf(server) : EMPTY_FORM);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ error: string; problems: Problems }>({ error: "", problems: {} });
  const root = useRef<HTMLFormElement>(null);
  useEffect(() => root.current?.querySelector("input")?.focus(), []);

  const set = (change: Partial<ServerForm>) => setForm((before) => ({ ...before, ...change }));
  const problems = { ...(tried ? problemsOf(form) : {}), ...refused.problems };
  const save = async () => {
    setTried(true);
    if (Object.keys(problemsOf(form)).length > 0) return;
    setBusy(true);
    try {
      const fields = fieldsOf(form);
      await (server ? servers.change(server.id, fields) : servers.add(fields));
      await serverList.refresh();
      onClose();
    } catch (problem) {
      setRefused(refusalOf(problem));
      setBusy(false);
    }
  };
  return (
    <section className="panel" aria-label={server ? `Edit ${server.name}` : "Add a server"}>
      <div className="panel-head">
        {server ? <h3>Edit {server.name}</h3> : <h2>Add a server</h2>}
        <span className="dim">{hintFor(server, form.transport)}</span>
        <span className="grow" />
        <IconButton icon="x" label="Close the form" onClick={onClose} />
      </div>
      <form
        ref={root}
        className="panel-body form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div className="two">
          <TextField
            label="Name"
            value={form.name}
            onText={(name) => set({ name })}
            problem={problems.name}
            placeholder="files"
          />
          <div className="field">
            <span className="label">Reached by</span>
            <span>
              <Segments
                label="Reached by"
                value={form.transport}
                options={TRANSPORTS}
                onChange={(transport) => set({ transport })}
              />
            </span>
          </div>
        </div>
        {form.transport === "stdio" ? (
          <CommandFields form={form} set={set} setForm={setForm} problems={problems} server={server} />
        ) : (
          <AddressFields form={form} set={set} problems={problems} server={server} />
        )}
        <More form={form} set={set} problems={problems} />
        <Problem what="Couldn’t save." error={refused.error} />
        <div className="panel-foot">
          <Button type="submit" look="primary" disabled={busy}>
            {server ? "Save" : form.transport === "stdio" ? "Add as a draft" : "Add server"}
          </Button>
          <Button look="ghost" onClick={onClose}>
            Cancel
          </Button>
          {onImport && (
            <>
              <span className="grow" />
              <Button look="ghost" icon="save" onClick={onImport}>
                Import a config instead
              </Button>
            </>
          )}
        </div>
      </form>
    </section>
  );
}

interface PartProps {
  form: ServerForm;
  set: (change: Partial<ServerForm>) => void;
  problems: Problems;
  server?: Server | undefined;
}

function CommandFields({
  form,
  set,
  setForm,
  problems,
  server,
}: PartProps & { setForm: (form: ServerForm) => void }) {
  return (
    <>
      <TextField
        label="Command"
        mono
        value={form.command}
        onText={(command) => set({ command })}
        onBlur={() => setForm(spread(form))}
        problem={problems.command}
        help="A whole command line is split into its parts. No shell is used."
        placeholder="npx"
      />
      <AreaField
        label="Arguments"
        optional
        mono
        rows={4}
        value={form.args}
        onText={(args) => set({ args })}
        problem={problems.args}
        help="One per line, spaces and all."
        placeholder={"-y\n@modelcontextprotocol/server-filesystem\n/docs"}
      />
      <div className="two">
        <AreaField
          label="Environment"
          optional
          mono
          rows={3}
          value={form.env}
          onText={(env) => set({ env })}
          problem={problems.env}
          help={keptHelp(
            server?.env_names,
            "NAME=value, or NAME=env:OTHER to read it from the environment of Windlass.",
          )}
          placeholder="API_KEY=env:API_KEY"
        />
        <div className="form">
          <TextField
            label="Folder"
            optional
            mono
            value={form.cwd}
            onText={(cwd) => set({ cwd })}
            problem={problems.cwd}
          />
          <SelectField
            label="Sandbox"
            value={form.sandbox}
            onPick={(sandbox) => set({ sandbox })}
            options={[
              ["default", "Default: your credentials out of reach"],
              ["strict", "Strict: private home, none of your files"],
              ["off", "Off: runs as you"],
            ]}
          />
        </div>
      </div>
    </>
  );
}

function AddressFields({ form, set, problems, server }: PartProps) {
  return (
    <>
      <TextField
        label="Address"
        mono
        type="url"
        value={form.url}
        onText={(url) => set({ url })}
        problem={problems.url}
        placeholder="https://example.com/mcp"
      />
      <AreaField
        label="Headers"
        optional
        mono
        rows={2}
        value={form.headers}
        onText={(headers) => set({ headers })}
        problem={problems.headers}
        help={keptHelp(server?.header_names, "Name: value, one per line.")}
        placeholder="Authorization: Bearer env:DOCS_TOKEN"
      />
    </>
  );
}

function More({ form, set, problems }: PartProps) {
  const [open, setOpen] = useState(false);
  const wrong = Boolean(problems.timeout_s ?? problems.retries ?? problems.parallel);
  return (
    <div className="form">
      <Fold
        icon="sliders"
        title="Trust, approval and limits"
        open={open || wrong}
        onToggle={() => setOpen(!open)}
      />
      {(open || wrong) && (
        <>
          <Check
            checked={form.trusted}
            onCheck={(trusted) => set({ trusted })}
            help="Its hints “read-only” and “safe to repeat” are used."
          >
            Trusted
          </Check>
          <div className="two">
            <TextField
              label="On in new chats"
              optional
              mono
              value={form.tools}
              onText={(tools) => set({ tools })}
              help="A pattern over tool names; * is all, empty is none."
            />
            <SelectField
              label="Approval"
              value={form.approval}
              onPick={(approval) => set({ approval })}
              options={APPROVALS}
            />
          </div>
          <div className="three">
            <TextField
              label="A call may take"
              inputMode="decimal"
              value={form.timeout_s}
              onText={(timeout_s) => set({ timeout_s })}
              problem={problems.timeout_s}
              help="Seconds; progress renews them."
            />
            <TextField
              label="Retries"
              inputMode="numeric"
              value={form.retries}
              onText={(retries) => set({ retries })}
              problem={problems.retries}
              help="For calls safe to repeat."
            />
            <TextField
              label="Calls at once"
              inputMode="numeric"
              value={form.parallel}
              onText={(parallel) => set({ parallel })}
              problem={problems.parallel}
              help="1 is one after another."
            />
          </div>
        </>
      )}
    </div>
  );
}

function keptHelp(names: readonly string[] | undefined, words: string): string {
  if (!names || names.length === 0) return words;
  return `${words} Kept now: ${names.join(", ")}. What you write replaces all of them; empty leaves them.`;
}

function hintFor(server: Server | undefined, transport: Server["transport"]): string {
  if (transport !== "stdio") return "Windlass connects to the address; nothing runs here.";
  return server
    ? "Changing the command or a variable needs confirming again; secrets don’t."
    : "Nothing starts until you confirm the command.";
}

function refusalOf(problem: unknown): { error: string; problems: Problems } {
  const detail = problem instanceof ApiError ? problem.detail : null;
  const field =
    typeof detail === "object" && detail !== null && "field" in detail ? String(detail.field) : "";
  const words = errorText(problem);
  return field in EMPTY_FORM ? { error: "", problems: { [field]: words } } : { error: words, problems: {} };
}
