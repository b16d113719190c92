import { useEffect, useRef } from "react";

import type { ConversationInfo } from "../api";
import { serverNow } from "../parts/clock";
import { useListing } from "../sidebar/listing";
import { markSeen } from "./center";
import { newsBetween } from "./news";
import { noteLooking, stopLooking, tell } from "./tell";

/** Tells of what happens in chats that nobody looks at. Once, at the root. */
export function useNotifications(openId: string): void {
  const { items, loaded } = useListing();
  const before = useRef<readonly ConversationInfo[] | null>(null);
  useEffect(() => {
    const look = () => {
      noteLooking(openId);
      if (document.hasFocus() && openId) markSeen(openId);
    };
    const leave = () => stopLooking(openId);
    look();
    addEventListener("focus", look);
    addEventListener("blur", leave);
    addEventListener("pagehide", leave);
    return () => {
      leave();
      removeEventListener("focus", look);
      removeEventListener("blur", leave);
      removeEventListener("pagehide", leave);
    };
  }, [openId]);
  useEffect(() => {
    if (!loaded) return;
    if (before.current) for (const news of newsBetween(before.current, items, serverNow())) void tell(news);
    before.current = items;
  }, [items, loaded]);
}
