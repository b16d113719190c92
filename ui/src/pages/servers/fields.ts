/** The form of a server as text, and the fields that are sent. */

import type { Approval, NewServer, Server } from "../../api";
import { splitCommand } from "./argv";

export interface ServerForm {
  name: string;
  transport: Server["transport"];
  command: string;
  /** One argument per line. */
  args: string;
  /** NAME=value per line; empty leaves what is kept. */
  env: string;
  cwd: string;
  url: string;
  /** Name: value per line; empty leaves what is kept. */
  headers: string;
  trusted: boolean;
  tools: string;
  approval: Approval | "";
  timeout_s: string;
  retries: string;
  parallel: string;
  sandbox: "default" | "strict" | "off";
}

export type Problems = Partial<Record<keyof ServerForm, string>>;

export const EMPTY_FORM: ServerForm = {
  name: "",
  transport: "stdio",
  command: "",
  args: "",
  env: "",
  cwd: "",
  url: "",
  headers: "",
  trusted: false,
  tools: "",
  approval: "",
  timeout_s: "120",
  retries: "0",
  parallel: "8",
  sandbox: "default",
};

export function formOf(server: Server): ServerForm {
  return {
    ...EMPTY_FORM,
    name: server.name,
    transport: server.transport,
    command: server.command,
    args: server.args.join("\n"),
    cwd: server.cwd,
    url: server.url,
    trusted: server.trusted,
    tools: server.tools,
    approval: server.approval ?? "",
    timeout_s: String(server.timeout_s),
    retries: String(server.retries),
    parallel: String(server.parallel),
    sandbox: server.isolation?.wanted ?? "default",
  };
}

/** A whole command line put into the command's box becomes command and arguments. */
export function spread(form: ServerForm): ServerForm {
  const [command = "", ...args] = splitCommand(form.command);
  if (args.length === 0 || form.args.trim() !== "") return form;
  return { ...form, command, args: args.join("\n") };
}

export function problemsOf(form: ServerForm): Problems {
  const problems: Problems = {};
  if (!form.name.trim()) problems.name = "Enter a name.";
  if (form.transport === "stdio" && !form.command.trim()) problems.command = "Enter a command.";
  if (form.transport !== "stdio" && !/^https?:\/\/\S+$/.test(form.url.trim()))
    problems.url = "Enter an address that begins with http:// or https://.";
  if (pairs(form.env, "=") === null) problems.env = "One NAME=value per line.";
  if (pairs(form.headers, ":") === null) problems.headers = "One Name: value per line.";
  if (!(Number(form.timeout_s) > 0 && Number(form.timeout_s) <= 86_400))
    problems.timeout_s = "More than 0, at most 86,400 seconds.";
  if (!isWhole(form.retries, 0, 10)) problems.retries = "A whole number, 0 to 10.";
  if (!isWhole(form.parallel, 1, 64)) problems.parallel = "A whole number, 1 to 64.";
  return problems;
}

/** What is sent. Values that are kept unseen are left out unless new ones were written. */
export function fieldsOf(form: ServerForm): NewServer {
  const env = pairs(form.env, "=") ?? {};
  const headers = pairs(form.headers, ":") ?? {};
  const reached: Partial<NewServer> =
    form.transport === "stdio"
      ? {
          command: form.command.trim(),
          args: linesIn(form.args),
          cwd: form.cwd.trim(),
          sandbox: form.sandbox,
          ...(form.env.trim() && { env }),
        }
      : { url: form.url.trim(), ...(form.headers.trim() && { headers }) };
  return {
    name: form.name.trim(),
    transport: form.transport,
    ...reached,
    trusted: form.trusted,
    tools: form.tools.trim(),
    approval: form.approval || null,
    timeout_s: Number(form.timeout_s),
    retries: Number(form.retries),
    parallel: Number(form.parallel),
  };
}

function linesIn(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function pairs(text: string, sign: "=" | ":"): Record<string, string> | null {
  const found: Record<string, string> = {};
  for (const line of text.split("\n").filter((other) => other.trim())) {
    const index = line.indexOf(sign);
    const name = line.slice(0, Math.max(0, index)).trim();
    if (!name) return null;
    found[name] = line.slice(index + 1).trim();
  }
  return found;
}

function isWhole(text: string, least: number, most: number): boolean {
  const n = Number(text);
  return text.trim() !== "" && Number.isInteger(n) && n >= least && n <= most;
}
