// The client of the TypeScript SDK, as desktop programs build on it: lists, calls with progress, answers one form.
// argv: the SDK's folder, then the address, or a command with its arguments. Prints what it got as JSON.
import { pathToFileURL } from "node:url";

const [folder, target, ...args] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${folder}/dist/esm/${path}`).href);
const { Client } = await load("client/index.js");
const { ElicitRequestSchema } = await load("types.js");

const token = process.env.CLIENT_TOKEN;
async function transport() {
  if (target.startsWith("http")) {
    const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
    const headers = { Authorization: `Bearer ${token}` };
    return new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } });
  }
  const { StdioClientTransport } = await load("client/stdio.js");
  return new StdioClientTransport({ command: target, args, env: { WINDLASS_HOME: process.env.WINDLASS_HOME } });
}

const client = new Client({ name: "npm client", version: "1" }, { capabilities: { elicitation: {} } });
const asked = [];
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  asked.push(params.message);
  return { action: "accept", content: { decision: "allow once" } };
});
await client.connect(await transport());
const { tools } = await client.listTools();
const steps = [];
const onprogress = ({ progress, message }) => steps.push(`${progress} ${message}`);
await client.callTool({ name: "progress", arguments: { steps: 2 } }, undefined, { onprogress });
const mixed = await client.callTool({ name: "odd", arguments: { kind: "mixed" } });
const allowed = await client.callTool({ name: "destroy", arguments: { effect_id: "a" } });
await client.close();
console.log(
  JSON.stringify({
    tools: tools.map((tool) => tool.name),
    steps,
    kinds: mixed.content.map((block) => block.type),
    allowed: allowed.content[0].text,
    asked,
  }),
);
