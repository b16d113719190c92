/** Whether the sidebar is docked, hidden by hand, or out as a drawer. */

import { createContext, use } from "react";

export interface SidebarState {
  hidden: boolean;
  drawer: boolean;
  open: () => void;
  close: () => void;
}

export const SidebarContext = createContext<SidebarState>({
  hidden: false,
  drawer: false,
  open: () => undefined,
  close: () => undefined,
});

export function useSidebar(): SidebarState {
  return use(SidebarContext);
}
