/** What the stub server knows: the conversations, tools and servers of the pictures. */

const today = (clock) => new Date(`${new Date().toISOString().slice(0, 10)}T${clock}:00Z`).toISOString();
const daysAgo = (days, clock) => new Date(Date.parse(today(clock)) - days * 86_400_000).toISOString();

const listed = (id, title, updated_at, more = {}) => ({
  id,
  title,
  description: "",
  system_prompt: "",
  persona: "researcher",
  provider: "zai",
  model: "glm-4.7",
  temperature: null,
  max_tokens: 128_000,
  max_messages: null,
  created_at: updated_at,
  updated_at,
  head_turn_id: null,
  state: "finished",
  outcome: "answered",
  approvals: 0,
  unknowns: 0,
  ...more,
});

export const LISTED = [
  listed("conv-pool", "Pool retries after a restart", today("09:41"), {
    state: "running",
    outcome: null,
    log: "pool-streaming",
  }),
  listed("conv-running", "Pool retries, measured", today("09:40"), {
    state: "running",
    outcome: null,
    log: "pool-running",
  }),
  listed("conv-notes", "Release notes for 0.4", today("09:35"), {
    state: "awaiting_person",
    outcome: null,
    approvals: 2,
    log: "approval",
    persona: "assistant",
  }),
  listed("conv-invoices", "Invoice totals, October", today("09:10"), {
    state: "awaiting_person",
    outcome: null,
    unknowns: 1,
    log: "unknown",
    persona: "assistant",
  }),
  listed("conv-flaky", "Flaky browser test", today("08:20"), { log: "quiet" }),
  listed("conv-states", "Every state of a call", daysAgo(1, "18:05"), { outcome: "stopped", log: "states" }),
  listed("conv-ends", "How turns end", daysAgo(1, "16:40"), { outcome: "failed", log: "ends" }),
  listed("conv-branches", "Branches, retries and edits", daysAgo(1, "11:12"), { log: "branches" }),
  listed("conv-done", "Pool retries, answered", daysAgo(6, "11:12"), { log: "pool-done" }),
  listed("conv-old", "Backups, retention and cost", daysAgo(11, "11:12"), { log: "quiet" }),
];

const tool = (server_slug, tool_name, description, tokens, more = {}) => ({
  server_id: `server-${server_slug}`,
  server_slug,
  server_name: server_slug,
  tool_name,
  name: `${server_slug}__${tool_name}`,
  title: "",
  description,
  input_schema: { type: "object", properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
  approval: "auto",
  tokens,
  enabled: true,
  changed: false,
  ...more,
});

const writes = {
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  approval: "ask",
};
const issue = {
  type: "object",
  required: ["title"],
  properties: {
    title: { type: "string" },
    body: { type: "string" },
    labels: { type: "array", items: { type: "string" } },
    priority: { type: "string", enum: ["low", "normal", "high"] },
    assignee: { type: "string" },
  },
};

export const TOOLS = [
  tool("files", "list_directory", "Names, sizes and dates in a folder", 118),
  tool("files", "read_file", "Reads one file inside the shared folder", 164),
  tool("files", "search_files", "Finds text in files", 201),
  tool("files", "write_file", "Creates or replaces a file", 187, writes),
  tool("files", "move_file", "Renames or moves a file", 142, { enabled: false }),
  tool("files", "delete_file", "Removes a file", 131, { enabled: false }),
  tool("git", "git_commit", "Records changes", 150, { enabled: false, changed: true }),
  tool("git", "git_diff", "Changes between two commits", 171),
  tool("git", "git_log", "Commits, newest first", 158),
  tool("git", "push_tag", "Pushes a tag", 120, writes),
  tool("docs", "search_docs", "Finds pages of the documentation", 190),
  tool("tracker", "search_issues", "Finds issues by words and state", 210),
  tool("tracker", "create_issue", "Files an issue", 240, { ...writes, input_schema: issue }),
  tool("bench", "restart_benchmark", "Restarts the database and measures", 160, writes),
];

const server = (slug, status, more = {}) => ({
  id: `server-${slug}`,
  name: slug,
  slug,
  status,
  transport: "stdio",
  argv: [],
  trusted: false,
  tools: "*",
  timeout_s: 60,
  tool_count: 6,
  latency_ms: 4,
  era: "2025-11-25",
  ...more,
});

export const SERVERS = [
  server("files", "running"),
  server("git", "failed"),
  server("weather", "draft"),
  server("tracker", "failed"),
  server("drive", "draft"),
  server("bench", "running"),
];

export const PERSONAS = ["assistant", "researcher", "librarian"].map((id) => ({
  id,
  name: id.charAt(0).toUpperCase() + id.slice(1),
  system_prompt: "",
  model: "",
  temperature: null,
  web_search: id === "researcher" ? "on" : "auto",
  tools: [],
  builtin: false,
}));

export const providers = (demo) => [
  {
    id: demo ? "demo" : "zai",
    name: demo ? "Demo" : "Z.AI",
    base_url: "",
    model: demo ? "demo" : "glm-4.7",
    temperature: null,
    has_key: !demo,
    default: true,
    demo,
    from_config: false,
  },
];
