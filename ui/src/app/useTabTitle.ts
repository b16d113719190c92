import { useEffect } from "react";

import { useListing } from "../sidebar/listing";
import { noteSeen, waitingIn } from "../sidebar/marks";
import type { Page, Route } from "./router";

const TITLES: Record<Page, string> = {
  new: "",
  conversation: "",
  activity: "Activity",
  permissions: "Permissions",
  servers: "Servers",
  models: "Models",
  settings: "Settings",
  account: "Account",
};

/** `(2) Title · Windlass`: the number is what waits for the person in all conversations. */
export function useTabTitle(route: Route): void {
  const { items, deleted } = useListing();
  const waiting = items.reduce((sum, item) => sum + (item.id === deleted?.id ? 0 : waitingIn(item)), 0);
  const open = items.find((item) => item.id === route.conversationId);
  const title = [open?.title || TITLES[route.page], "Windlass"].filter(Boolean).join(" · ");
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
  }, [waiting, title]);
  useEffect(() => {
    if (open && document.hasFocus()) noteSeen(open);
  }, [open]);
}
