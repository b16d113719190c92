// Draws /openapi.json. Everything is set as text, never as markup.

const main = document.getElementById("main");
const nav = document.getElementById("tags");

start();

async function start() {
  // The page of this origin keeps its half of the session there, by its base path.
  const root = new URL("..", import.meta.url);
  const half = localStorage.getItem("windlass.session" + root.pathname.slice(0, -1));
  const response = await fetch(new URL("openapi.json", root), { headers: half ? { "x-windlass-session": half } : {} });
  if (!response.ok) {
    main.replaceChildren(el("p", "Sign in to read the API. Open the link that windlass serve prints, then come back."));
    return;
  }
  draw(await response.json());
}

function draw(spec) {
  main.replaceChildren(el("h1", `${spec.info.title} ${spec.info.version}`));
  for (const part of spec.info.description.split("\n\n")) main.append(el("p", part));
  for (const tag of spec.tags) {
    const operations = operationsOf(spec, tag.name);
    if (operations.length === 0) continue;
    const link = el("a", tag.name);
    link.href = `#${tag.name}`;
    nav.append(link);
    const title = el("h2", tag.name);
    title.id = tag.name;
    main.append(title, el("p", tag.description, "quiet"));
    for (const operation of operations) main.append(operationBox(spec, operation));
  }
}

function operationsOf(spec, tag) {
  return Object.entries(spec.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
  );
}

function operationBox(spec, operation) {
  const box = el("details");
  box.id = operation.operationId;
  const head = el("summary");
  head.append(el("span", operation.method, "method"), el("span", operation.path, "path"), ` ${operation.summary}`);
  box.append(head);
  box.addEventListener("toggle", () => box.childElementCount === 1 && fill(spec, operation, box));
  return box;
}

function fill(spec, operation, box) {
  if (operation.description) box.append(el("p", operation.description));
  if (operation.parameters.length > 0) box.append(parameterTable(operation.parameters));
  const body = operation.requestBody?.content["application/json"].schema;
  if (body) box.append(el("p", "Body", "quiet"), fieldTable(spec, body), code(example(spec, body)));
  for (const [status, response] of Object.entries(operation.responses)) {
    box.append(el("p", `${status} ${response.description}`, "quiet"));
    const schema = response.content?.["application/json"]?.schema;
    if (schema && status < "300") box.append(code(example(spec, schema)));
  }
}

function parameterTable(parameters) {
  return table(
    ["parameter", "in", "what"],
    parameters.map((p) => [p.name + (p.required ? "" : "?"), p.in, words(p.schema, p.description)]),
  );
}

function fieldTable(spec, schema) {
  const { properties = {}, required = [] } = resolve(spec, schema);
  return table(
    ["field", "type", "what"],
    Object.entries(properties).map(([name, field]) => [
      name + (required.includes(name) ? "" : "?"),
      typeOf(spec, field),
      words(field, description(field)),
    ]),
  );
}

function description(field) {
  return field.description ?? field.anyOf?.find((one) => one.description)?.description ?? "";
}

function words(schema, text = "") {
  const parts = [text];
  if (schema.default !== undefined) parts.push(`Default ${JSON.stringify(schema.default)}.`);
  if (schema.minimum !== undefined) parts.push(`At least ${schema.minimum}.`);
  if (schema.maximum !== undefined) parts.push(`At most ${schema.maximum}.`);
  return parts.filter(Boolean).join(" ");
}

function typeOf(spec, schema) {
  if (schema.$ref) return typeOf(spec, resolve(spec, schema));
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(spec, one)).join(" | ");
  if (schema.type === "array") return `[${typeOf(spec, schema.items ?? {})}]`;
  return schema.type ?? "any";
}

function resolve(spec, schema) {
  return schema.$ref ? spec.components.schemas[schema.$ref.split("/").at(-1)] : schema;
}

function example(spec, schema, depth = 0) {
  const one = resolve(spec, schema);
  if (one.examples) return one.examples[0];
  if (one.anyOf) return example(spec, one.anyOf[0], depth);
  if (one.enum) return one.enum[0];
  if (one.default !== undefined) return one.default;
  if (depth > 6) return null;
  switch (one.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(one.properties ?? {}).map(([name, field]) => [name, example(spec, field, depth + 1)]),
      );
    case "array":
      return [example(spec, one.items ?? {}, depth + 1)];
    case "integer":
    case "number":
      return one.minimum ?? 0;
    case "boolean":
      return true;
    case "string":
      return "…";
    default:
      return null;
  }
}

function table(heads, rows) {
  const made = el("table");
  made.append(row("th", heads), ...rows.map((cells) => row("td", cells)));
  return made;
}

function row(kind, cells) {
  const made = el("tr");
  made.append(...cells.map((cell) => el(kind, cell)));
  return made;
}

function code(value) {
  return el("pre", JSON.stringify(value, null, 2));
}

function el(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}
