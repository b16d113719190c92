import { Suspense, lazy, useEffect, useState } from "react";

import type { AvailableTool } from "../api";
import { Resource, useResource } from "../app/resource";
import { providerList, searchState, serverList } from "../app/resources";
import { useDefaultTools } from "../composer/defaultTools";
import { toolsOf } from "../conversation/toolbox";
import { useIsDemo } from "../conversation/Strips";
import { Icon, type IconName } from "../parts";

const Connect = lazy(() => import("../pages/models/Connect"));

interface Starter {
  icon: IconName;
  title: string;
  means: string;
  /** What the demo model understands, and what any other does. */
  demo: string;
  words: string;
  /** The tools it cannot do without; `//` stands for the web search. */
  demoNeeds: readonly string[];
  needs: readonly string[];
}

const THREE = ["get_time", "calculate", "list_directory"];

const STARTERS: readonly Starter[] = [
  {
    icon: "parallel",
    title: "Three tools at once",
    means: "Three calls in one reply, run side by side.",
    demo: '/get_time timezone=Europe/Oslo\n/calculate expression="17*23"\n/list_directory path=.',
    words:
      "What time is it in Oslo, what is 17*23, and which files are here? Use one call for each, all at once.",
    demoNeeds: THREE,
    needs: THREE,
  },
  {
    icon: "person",
    title: "A call that asks first",
    means: "Writes a note, so it asks you first.",
    demo: '/write_note title="Hello" text="From Windlass"',
    words: "Write a note titled “Hello” that says “From Windlass”.",
    demoNeeds: ["write_note"],
    needs: ["write_note"],
  },
  {
    icon: "doc",
    title: "An answer with sources",
    means: "Sources",
    demo: '/search_docs query="approval"',
    words: "// What changed in the newest release of SQLite?",
    demoNeeds: ["search_docs"],
    needs: ["//"],
  },
];

interface Props {
  /** Empty before there is a conversation. */
  conversationId?: string;
  onFill: (text: string) => void;
}

/** An empty conversation: what this is, what can be tried here, and how to connect a model. Starters fill the box. */
export function FirstRun({ conversationId = "", onFill }: Props) {
  const demo = useIsDemo();
  const connects = useOnce(demo);
  const can = useAbilities(conversationId, demo);
  const starters = STARTERS.filter((starter) => (demo ? starter.demoNeeds : starter.needs).every(can));
  const fill = (starter: Starter) => {
    onFill(demo ? starter.demo : starter.words);
    dispatchEvent(new Event("windlass:compose"));
  };
  if (!useIsKnown()) return <div className="hello" aria-busy="true" />;
  return (
    <div className="hello">
      <div>
        <h1>Give a model tools, and watch it work.</h1>
        <p className="lead">Every call is shown, timed and kept. What changes something asks you first.</p>
      </div>
      {starters.length > 0 && (
        <section aria-label="Try it">
          <div className="section-head">
            <h2>Try it now</h2>
            {demo && <span className="dim">No key needed</span>}
          </div>
          <ul className="starters">
            {starters.map((starter) => (
              <li key={starter.title}>
                <button type="button" className="starter" onClick={() => fill(starter)}>
                  <h3>
                    <Icon name={starter.icon} />
                    {starter.title}
                  </h3>
                  <p>{starter.means}</p>
                  <span className="pre">{demo ? starter.demo : starter.words}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {connects && (
        <Suspense fallback={null}>
          <Connect />
        </Suspense>
      )}
    </div>
  );
}

/** Whether model, search and servers have been asked for: what depends on them is drawn at once, and nothing moves. */
function useIsKnown(): boolean {
  const asked = [useResource(providerList), useResource(searchState), useResource(serverList)];
  return asked.every(({ value, error }) => value !== null || error !== "");
}

const noTools = new Resource(() => Promise.resolve({ available_tools: [] as AvailableTool[] }));

/** Whether a tool is on here, by name. The demo model calls by the offered name, which is longer when two share it. */
function useAbilities(conversationId: string, demo: boolean): (need: string) => boolean {
  const search = useResource(searchState).value;
  const providers = useResource(providerList).value;
  const before = useDefaultTools(conversationId === "").names;
  const here = useResource<{ available_tools: AvailableTool[] }>(
    conversationId ? toolsOf(conversationId) : noTools,
  ).value;
  // Whether the web can be searched may depend on the model, and one may be connected on this very page.
  useEffect(() => {
    if (providers) void searchState.refresh();
  }, [providers]);
  const on = here?.available_tools.filter((tool) => tool.enabled) ?? [];
  const names = conversationId ? on.map((tool) => (demo ? tool.name : tool.tool_name)) : before;
  return (need) => {
    if (!providers) return false;
    if (need === "//") return search !== null && search.prefix && search.ready;
    const times = names.filter((name) => name === need).length;
    return demo ? times === 1 : times > 0;
  };
}

/** True from the first time on: what a new model could do must stay readable once it has taken the demo's place. */
function useOnce(now: boolean): boolean {
  const [ever, setEver] = useState(now);
  if (now && !ever) setEver(true);
  return ever || now;
}
