/** Keeps the list of chats true while the page is open. Once, at the root. */

import { useEffect } from "react";

import { Stream } from "../api";
import { doesChatListen, noteLink, useChatListens, useConnection } from "../app/link";
import { useResource } from "../app/resource";
import { serverList } from "../app/resources";
import { setSkew } from "../parts/clock";
import { deleteNow, refresh, takeChange } from "./listing";

const STARTING_POLL_MS = 4000;
const IDLE_POLL_MS = 15_000;

export function useListStream(): void {
  const chatListens = useChatListens();
  const { state, opened } = useConnection();
  useEffect(() => (doesChatListen() ? undefined : openStream()), [chatListens]);
  useEffect(() => {
    if (opened > 0) void refresh();
  }, [opened]);
  useEffect(() => {
    addEventListener("pagehide", deleteNow);
    return () => removeEventListener("pagehide", deleteNow);
  }, []);
  useServerPolls(state === "open");
}

/** Without an open chat the list has a stream of its own. */
function openStream(): () => void {
  const stream = new Stream("/events", {
    events: () => undefined,
    changed: takeChange,
    link: noteLink,
    skew: setSkew,
  });
  return () => stream.close();
}

/** The state of MCP servers is in no stream. */
function useServerPolls(connected: boolean): void {
  const { value } = useResource(serverList);
  const starting = value?.some((server) => server.status === "starting") ?? false;
  useEffect(() => {
    if (!connected) return;
    const timer = setInterval(() => serverList.freshen(), starting ? STARTING_POLL_MS : IDLE_POLL_MS);
    return () => clearInterval(timer);
  }, [connected, starting]);
}
