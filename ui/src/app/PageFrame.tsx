import type { ReactNode } from "react";

import { IconButton } from "../parts";
import { useSidebar } from "./sidebarState";

interface Props {
  title: string;
  /** Beside the title: counts. */
  meta?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page that is not a conversation: top bar, then one scrolling column. */
export function PageFrame({ title, meta, actions, children }: Props) {
  return (
    <main className="main">
      <TopBar actions={actions}>
        <h1 className="cut">{title}</h1>
        {meta && <span className="dim num topmeta">{meta}</span>}
      </TopBar>
      <div className="scroll" id="content" tabIndex={0} aria-label={title}>
        <div className="page">{children}</div>
      </div>
    </main>
  );
}

export function TopBar({ children, actions }: { children: ReactNode; actions?: ReactNode }) {
  const sidebar = useSidebar();
  return (
    <header className="topbar">
      <IconButton
        className={sidebar.hidden ? "menu shown" : "menu"}
        icon="menu"
        label="Open the sidebar"
        onClick={sidebar.open}
      />
      {children}
      <span className="grow" />
      {actions}
    </header>
  );
}
