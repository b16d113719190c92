/** What several parts of the page share. */

import { system, personas, policy, providers, servers, type ModelInfo, type ServerList } from "../api";
import { Resource } from "./resource";

export const providerList = new Resource(async () => (await providers.list()).providers);
export const personaList = new Resource(async () => (await personas.list()).personas);
/** As the judge numbers them: the operator's first, then the saved ones. */
export const ruleList = new Resource(async () => {
  const { operator_rules, rules } = await policy.get();
  return [...operator_rules, ...rules];
});
export const serverList = new Resource(async () => {
  const answer = await servers.list();
  toolCost = answer.cost;
  return answer.servers;
});

/** What the tools of new chats cost, as the last list of the servers had it. */
export const lastToolCost = () => toolCost;

let toolCost: ServerList["cost"];

export const searchState = new Resource(system.search);

/** The models of every provider; one that does not answer leaves only its default model. */
export const modelList = new Resource(async (): Promise<Pick<ModelInfo, "id" | "provider_id">[]> => {
  const known = (await providers.list()).providers;
  const lists = await Promise.all(
    known.map(async (provider) => {
      const fallback = provider.model ? [{ id: provider.model, provider_id: provider.id }] : [];
      return providers.models(provider.id).then(
        ({ models }) => (models.length > 0 ? models : fallback),
        () => fallback,
      );
    }),
  );
  return lists.flat();
});
