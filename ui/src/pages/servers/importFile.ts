/** The server list of another client, as it is pasted or dropped. */

export interface Candidate {
  name: string;
  /** The command line or the address, as far as it can be read. */
  what: string;
}

export interface ImportFile {
  servers: Record<string, unknown>;
  candidates: readonly Candidate[];
  /** Why it cannot be used; "" when it can. */
  problem: string;
}

const NONE: ImportFile = { servers: {}, candidates: [], problem: "" };

/** Accepts `mcpServers`, `servers` or `context_servers` (with comments, as editors write them), or the bare map of names. */
export function readImport(text: string): ImportFile {
  if (text.trim() === "") return NONE;
  let value: unknown;
  try {
    value = JSON.parse(withoutComments(text));
  } catch (error) {
    return {
      ...NONE,
      problem: `This is not JSON: ${error instanceof Error ? error.message : "it cannot be read"}.`,
    };
  }
  const servers = serversIn(value);
  const candidates = Object.entries(servers).map(([name, entry]) => ({ name, what: whatOf(entry) }));
  if (candidates.length === 0)
    return { ...NONE, problem: "No servers are named in it. Expected “mcpServers”." };
  return { servers, candidates, problem: "" };
}

function serversIn(value: unknown): Record<string, unknown> {
  if (!isObject(value)) return {};
  for (const name of ["mcpServers", "servers", "mcp", "context_servers"]) {
    const inner = value[name];
    if (isObject(inner)) return name === "mcp" ? serversIn(inner) : inner;
  }
  const entries = Object.entries(value).filter(([, entry]) => isServer(entry));
  if (entries.length > 0) return Object.fromEntries(entries);
  return {};
}

function isServer(entry: unknown): boolean {
  return isObject(entry) && (commandOf(entry) !== null || typeof entry.url === "string");
}

function whatOf(entry: unknown): string {
  if (!isObject(entry)) return "not a server";
  const command = commandOf(entry);
  if (command !== null) return command;
  return typeof entry.url === "string" ? entry.url : "no command and no address";
}

/** Zed used to keep the command and its arguments in one object. */
function commandOf(entry: Record<string, unknown>): string | null {
  const inner = isObject(entry.command) ? entry.command : { path: entry.command, args: entry.args };
  if (typeof inner.path !== "string") return null;
  const args = Array.isArray(inner.args) ? inner.args.map(String) : [];
  return [inner.path, ...args].join(" ");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Comments and commas before a closing bracket, outside of strings. */
function withoutComments(text: string): string {
  const plain = text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith('"') ? found : "",
  );
  return plain.replace(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (found) => (found === "," ? "" : found));
}
