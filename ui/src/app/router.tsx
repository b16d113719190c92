/** The page's own addresses: /ui/, /ui/c/{id}, /ui/activity, /ui/permissions, /ui/servers, /ui/models, /ui/settings, /ui/account; ?inspect=TURN opens the inspector, ?at=MESSAGE a hit. */

import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

import { belowBase, inBase } from "../api";

const PAGES = ["activity", "permissions", "servers", "models", "settings", "account"] as const;

export type Page = "new" | "conversation" | (typeof PAGES)[number];

export interface Route {
  page: Page;
  conversationId: string;
  /** The turn in the inspector, "" when it is closed; and the round selected in it. */
  inspect: string;
  round: number;
  /** The message to open the chat at, and the words to mark in it: what a search found. */
  at: string;
  find: string;
}

export const paths = {
  home: inBase("/ui/"),
  activity: inBase("/ui/activity"),
  permissions: inBase("/ui/permissions"),
  /** One line of the list. */
  permission: (id: string) => inBase(`/ui/permissions#${encodeURIComponent(id)}`),
  servers: inBase("/ui/servers"),
  models: inBase("/ui/models"),
  settings: inBase("/ui/settings"),
  account: inBase("/ui/account"),
  conversation: (id: string) => inBase(`/ui/c/${encodeURIComponent(id)}`),
  /** A message of it, with the words that were looked for. */
  message: (id: string, at: string, find: string) =>
    inBase(`/ui/c/${encodeURIComponent(id)}?${new URLSearchParams({ at, find }).toString()}`),
};

export function useRoute(): Route {
  return useSyncExternalStore(watch, read);
}

export function navigate(path: string, how: "push" | "replace" = "push"): void {
  if (how === "push") history.pushState(null, "", path);
  else history.replaceState(null, "", path);
  dispatchEvent(new Event("windlass:route"));
}

/** Whether this page is shown now: what was asked for may come when the person is elsewhere. */
export function isAt(page: Page): boolean {
  return read().page === page;
}

/** Open the inspector on a turn, or close it with "". The rest of the address stays. */
export function inspect(turnId: string, round = 0): void {
  const url = new URL(location.href);
  url.searchParams.delete("inspect");
  url.searchParams.delete("round");
  if (turnId) url.searchParams.set("inspect", turnId);
  if (turnId && round) url.searchParams.set("round", String(round));
  navigate(url.pathname + url.search, "replace");
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { href: string };

/** An address inside the page: a plain click does not load it anew. */
export function Link({ href, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!plain || event.defaultPrevented) return;
    event.preventDefault();
    navigate(href);
  };
  return <a href={href} onClick={follow} {...rest} />;
}

let last: { href: string; route: Route } | null = null;

function read(): Route {
  if (last?.href !== location.href)
    last = { href: location.href, route: parse(location.pathname, location.search) };
  return last.route;
}

export function parse(pathname: string, search: string): Route {
  const [, , name = "", id = ""] = belowBase(pathname).split("/");
  const query = new URLSearchParams(search);
  const route = {
    inspect: query.get("inspect") ?? "",
    round: Number(query.get("round") ?? 0),
    at: query.get("at") ?? "",
    find: query.get("find") ?? "",
    conversationId: "",
  };
  if (name === "c" && id) return { ...route, page: "conversation", conversationId: decodeURIComponent(id) };
  return { ...route, page: PAGES.find((page) => page === name) ?? "new" };
}

function watch(changed: () => void): () => void {
  addEventListener("popstate", changed);
  addEventListener("windlass:route", changed);
  return () => {
    removeEventListener("popstate", changed);
    removeEventListener("windlass:route", changed);
  };
}
