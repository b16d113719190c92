// Vercel's `ai`, with its provider for OpenAI-compatible servers.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embedMany, generateObject, generateText, stepCountIs, streamObject, streamText, tool } from "ai";
import { z } from "zod";

const provider = createOpenAICompatible({
  name: "tested",
  baseURL: process.env.CLIENT_URL,
  apiKey: process.env.CLIENT_KEY,
  supportsStructuredOutputs: true,
});
const model = provider("strict-model");
const prompt = "What is the weather in Nanaimo? ### Do not repeat this.";
const parameters = {
  ...{ temperature: 0.25, topP: 0.9, seed: 7, stopSequences: ["###"], maxOutputTokens: 500 },
  ...{ presencePenalty: 0.2, frequencyPenalty: 0.1, maxRetries: 0 },
};
const schema = z.object({ city: z.string(), degrees: z.number() });

const scenarios = {
  async parameters() {
    const done = await generateText({ model, prompt, ...parameters });
    return [done.text, done.finishReason];
  },
  async streamed() {
    return await streamText({ model, prompt, ...parameters }).text;
  },
  async tools() {
    const get_weather = tool({
      description: "Weather",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `12.5 degrees in ${city}`,
    });
    const asked = { model, prompt: "Use get_weather for Nanaimo.", tools: { get_weather }, maxRetries: 0 };
    const done = await generateText({ ...asked, stopWhen: stepCountIs(3) });
    return [done.text, done.steps.length];
  },
  async structured() {
    return (await generateObject({ model, prompt, schema, maxRetries: 0 })).object;
  },
  async structured_stream() {
    const stream = streamObject({ model, prompt, schema, maxRetries: 0 });
    let last;
    for await (const part of stream.partialObjectStream) last = part;
    return [last, await stream.object];
  },
  async embeddings() {
    const embedding = provider.textEmbeddingModel("strict-model");
    return (await embedMany({ model: embedding, values: ["a", "b"], maxRetries: 0 })).embeddings;
  },
};

const found = {};
for (const [name, scenario] of Object.entries(scenarios)) {
  found[name] = await scenario().catch((error) => `${error.name}: ${error.message}`.slice(0, 300));
}
console.log(JSON.stringify(found));
