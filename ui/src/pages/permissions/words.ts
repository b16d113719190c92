/** The list of permissions in words. */

import type { Permission } from "../../api";
import { grouped } from "../../parts";
import { conditionText } from "./rules";

export const DECISIONS = {
  auto: { word: "Allow", icon: "check" },
  named: { word: "Allow", icon: "check" },
  ask: { word: "Ask", icon: "person" },
  deny: { word: "Deny", icon: "denied" },
} as const;

export interface Layer {
  id: string;
  title: string;
  words: string;
  kinds: readonly Permission["kind"][];
}

/** In the order in which they are judged. */
export const LAYERS: readonly Layer[] = [
  { id: "rules", title: "Rules", words: "first match wins", kinds: ["rule"] },
  { id: "grants", title: "Grants", words: "what you allowed on a card", kinds: ["grant"] },
  { id: "chats", title: "Chats", words: "chosen in the tools menu", kinds: ["conversation"] },
  {
    id: "servers",
    title: "Servers and tools",
    words: "the default of each server",
    kinds: ["server", "tool"],
  },
];

/** What the page opens with: how much may happen unasked. */
export function summaryOf(permissions: readonly Permission[]): string {
  const allowed = permissions.filter((one) => one.effect === "auto");
  const servers = [...new Set(allowed.filter((one) => one.tool === "*").map((one) => one.server))];
  const tools = new Set(
    allowed
      .filter((one) => one.tool !== "*" && !servers.includes(one.server))
      .map((one) => `${one.server}.${one.tool}`),
  );
  const all = servers.map((server) => allOf(server, permissions));
  const some = tools.size === 1 ? "1 tool" : `${tools.size} tools`;
  const parts = tools.size > 0 ? [...all, all.length > 0 ? some.replace(" ", " other ") : some] : all;
  if (parts.length === 0) return NOTHING;
  return `${capital(listed(parts))} may act without asking.`;
}

/** All tools of a server, less those that are set to something stricter by themselves. */
function allOf(server: string, permissions: readonly Permission[]): string {
  const here = permissions.filter((one) => one.server === server);
  const byDefault = here.every((one) => one.tool !== "*" || one.effect !== "auto" || one.kind === "server");
  const allowed = here.filter((one) => one.effect === "auto").map(({ tool }) => tool);
  const stricter = here.filter(
    (one) =>
      one.kind === "tool" && one.effect !== "auto" && one.effect !== "named" && !allowed.includes(one.tool),
  ).length;
  if (server === "*") return "all tools";
  return byDefault && stricter > 0 ? `all but ${stricter} of ${server}’s tools` : `all tools of ${server}`;
}

export const NOTHING = "Nothing is granted yet. Tools that read run; tools that change or send ask.";

/** How often it decided: "allowed 188", "asked 6", "stopped 2"; "" for never. */
export function usesOf({ uses }: Permission): string {
  const counts = Object.entries<number>({ ...uses }).filter(([, count]) => count > 0);
  return counts.map(([what, count]) => `${what} ${grouped(count)}`).join(", ");
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 7;

export function expiresSoon({ expires_at }: Permission, now: number): boolean {
  return expires_at !== undefined && Date.parse(expires_at) - now < SOON_DAYS * DAY_MS;
}

/** Whether it is a grant that never decided a call. */
export function isUnused(one: Permission): boolean {
  return one.kind === "grant" && one.last_used_at === null;
}

const ANY_ARGUMENT = /(^| and )\* =/g;

/** What it applies to, under its name: conditions, chat, end. */
export function limitsOf(one: Permission): string {
  const parts = [
    one.covers === "arguments" ? "with exactly the arguments it was given for" : "",
    one.arguments ? `where ${conditionText(one.arguments).replace(ANY_ARGUMENT, "$1any argument =")}` : "",
    one.name ? `“${one.name}”` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

export function appliesTo({ server, tool }: Permission): string {
  return tool === "*" && server !== "*" ? `${server}: all tools` : `${server}.${tool}`;
}

export function originOf(one: Permission, me: string): string {
  if (one.source === "windlass.toml") return one.line ? `windlass.toml, line ${one.line}` : "windlass.toml";
  if (one.by) return one.by === me ? "You" : one.by;
  if (one.source === "built-in") return "Comes with the demo";
  return { policy: "Rules", decision: "A card", conversation: "Tools menu", server: "Servers page" }[
    one.source
  ];
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
