import { Suspense, lazy, useMemo, useState } from "react";

import { ConversationPage } from "../conversation/ConversationPage";
import { useNotifications } from "../notifications/useNotifications";
import { Drawer } from "../parts";
import { Sidebar } from "../sidebar/Sidebar";
import { useListStream } from "../sidebar/useListStream";
import { ConfirmDialog } from "./ConfirmDialog";
import { DropImport } from "./DropImport";
import { useResource } from "./resource";
import { providerList } from "./resources";
import { inspect, useRoute, type Route } from "./router";
import { SidebarContext, type SidebarState } from "./sidebarState";
import { SignIn } from "./SignIn";
import { useAppKeys } from "./useAppKeys";
import { useMedia } from "./useMedia";
import { useSession } from "./useSession";
import { useTabTitle } from "./useTabTitle";

const Inspector = lazy(() => import("../pages/Inspector"));
const Activity = lazy(() => import("../pages/Activity"));
const Permissions = lazy(() => import("../pages/Permissions"));
const Servers = lazy(() => import("../pages/Servers"));
const Models = lazy(() => import("../pages/Models"));
const Settings = lazy(() => import("../pages/Settings"));
const Account = lazy(() => import("../pages/Account"));

const SIDEBAR_DOCKED = "(min-width: 1200px)";

/** Nothing of the shell is there, and so nothing is asked for, before it is known who this is. */
export function App() {
  const session = useSession();
  if (!session) return null;
  return (
    <>
      {session.signedIn ? <Shell /> : <SignIn problem={session.problem} />}
      <ConfirmDialog />
    </>
  );
}

function Shell() {
  const route = useRoute();
  const docked = useMedia(SIDEBAR_DOCKED);
  const sidebar = useSidebarState(docked, route);
  useListStream();
  useTabTitle(route);
  useNotifications(route.conversationId);
  useAppKeys(sidebar.open);
  return (
    <SidebarContext value={sidebar}>
      <SkipLink route={route} />
      <div className={docked && !sidebar.hidden ? "app" : "app no-side"}>
        {docked && !sidebar.hidden && <Sidebar />}
        <Drawer side="left" label="Chats" open={!docked && sidebar.drawer} onClose={sidebar.close}>
          <Sidebar />
        </Drawer>
        <Main route={route} />
        <InspectorPane route={route} docked={docked} />
      </div>
      <DropImport />
    </SidebarContext>
  );
}

/** Past the sidebar, to where one writes or else to where one reads. */
function SkipLink({ route }: { route: Route }) {
  const writes = route.page === "new" || route.page === "conversation";
  return (
    <a className="skip" href={writes ? "#composer" : "#content"}>
      {writes ? "Skip to the message box" : "Skip to the page"}
    </a>
  );
}

function Main({ route }: { route: Route }) {
  const { value, error } = useResource(providerList);
  // A strip stands over a chat where the model is a demo: both are drawn at once, so that nothing moves.
  const known = value !== null || error !== "";
  if (route.page === "new" || route.page === "conversation")
    return known ? (
      <ConversationPage id={route.conversationId} />
    ) : (
      <main className="main" aria-busy="true" />
    );
  return (
    <Suspense fallback={<main className="main" aria-busy="true" />}>
      {route.page === "activity" && <Activity />}
      {route.page === "permissions" && <Permissions />}
      {route.page === "servers" && <Servers />}
      {route.page === "models" && <Models />}
      {route.page === "settings" && <Settings />}
      {route.page === "account" && <Account />}
    </Suspense>
  );
}

function InspectorPane({ route, docked }: { route: Route; docked: boolean }) {
  if (!route.inspect) return null;
  const close = () => inspect("");
  const inside = (
    <Suspense fallback={null}>
      <Inspector key={route.inspect} turnId={route.inspect} round={route.round} onClose={close} />
    </Suspense>
  );
  if (docked)
    return (
      <aside className="inspector" aria-label="Turn inspector">
        {inside}
      </aside>
    );
  return (
    <Drawer side="right" label="Turn inspector" open onClose={close}>
      <div className="inspector">{inside}</div>
    </Drawer>
  );
}

/** Docked, the sidebar hides; narrow, it is a drawer that closes when it has led somewhere. */
function useSidebarState(docked: boolean, route: Route): SidebarState {
  const [hidden, setHidden] = useState(false);
  const [drawer, setDrawer] = useState(false);
  const [shownRoute, setShownRoute] = useState(route);
  if (shownRoute !== route) {
    setShownRoute(route);
    setDrawer(false);
  }
  return useMemo(
    () => ({
      hidden,
      drawer,
      open: () => (docked ? setHidden(false) : setDrawer(true)),
      close: () => (docked ? setHidden(true) : setDrawer(false)),
    }),
    [docked, hidden, drawer],
  );
}
