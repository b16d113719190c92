// The `openai` package of npm.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.CLIENT_URL, apiKey: process.env.CLIENT_KEY, maxRetries: 0 });
const model = "strict-model";
const asked = (text) => [{ role: "user", content: text }];
const question = "What is the weather in Nanaimo? ### Do not repeat this.";
const parameters = { temperature: 0.25, top_p: 0.9, seed: 7, stop: ["###"], max_completion_tokens: 500, user: "u" };
const schema = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};
const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tool = { type: "function", function: { name: "get_weather", parameters: city } };

const scenarios = {
  async parameters() {
    const done = await client.chat.completions.create({ model, messages: asked(question), ...parameters });
    return [done.choices[0].message.content, done.choices[0].finish_reason];
  },
  async streamed() {
    const runner = client.chat.completions.stream({ model, messages: asked(question), ...parameters });
    return await runner.finalContent();
  },
  async tools() {
    const messages = asked("Use get_weather for Nanaimo.");
    const made = await client.chat.completions.create({ model, messages, tools: [tool] });
    const message = made.choices[0].message;
    const [call] = message.tool_calls;
    const result = { role: "tool", tool_call_id: call.id, content: "12.5 degrees" };
    const done = await client.chat.completions.create({ model, messages: [...messages, message, result], tools: [tool] });
    return [call.function.name, call.function.arguments, done.choices[0].message.content];
  },
  async structured() {
    const response_format = { type: "json_schema", json_schema: { name: "weather", schema, strict: true } };
    const done = await client.chat.completions.parse({ model, messages: asked(question), response_format });
    return done.choices[0].message.content;
  },
  async embeddings() {
    const made = await client.embeddings.create({ model, input: ["a", "b"] });
    return made.data.map((one) => one.embedding);
  },
  async models() {
    return (await client.models.retrieve(model)).id;
  },
};

const found = {};
for (const [name, scenario] of Object.entries(scenarios)) {
  found[name] = await scenario().catch((error) => `${error.name}: ${error.message}`.slice(0, 300));
}
console.log(JSON.stringify(found));
