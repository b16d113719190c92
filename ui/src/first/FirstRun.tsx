import { Suspense, lazy, useState } from "react";

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
}

const STARTERS: readonly Starter[] = [
  {
    icon: "parallel",
    title: "Three tools at once",
    means: "Three calls in one reply, run side by side.",
    demo: '/get_time timezone=Europe/Oslo\n/calculate expression="17*23"\n/list_directory path=.',
    words:
      "What time is it in Oslo, what is 17*23, and which files are here? Use one call for each, all at once.",
  },
  {
    icon: "person",
    title: "A call that asks first",
    means: "It writes a note, so it waits for your word.",
    demo: '/write_note title="Hello" text="From Windlass"',
    words: "Write a note titled “Hello” that says “From Windlass”.",
  },
  {
    icon: "doc",
    title: "An answer with sources",
    means: "Numbered links to the pages that were read.",
    demo: '/search_docs query="approval"',
    words: "// What changed in the newest release of SQLite?",
  },
];

/** An empty conversation: what this is, three things to try, and how to connect a model. Starters fill the box. */
export function FirstRun({ onFill }: { onFill: (text: string) => void }) {
  const demo = useIsDemo();
  const connects = useOnce(demo);
  const fill = (starter: Starter) => {
    onFill(demo ? starter.demo : starter.words);
    dispatchEvent(new Event("windlass:compose"));
  };
  return (
    <div className="hello">
      <div>
        <h1>Give a model tools, and watch it work.</h1>
        <p className="lead">Every call is shown, timed and kept. What changes something asks you first.</p>
      </div>
      <section aria-label="Try it">
        <div className="section-head">
          <h2>Try it now</h2>
          {demo && <span className="dim">Three turns, no key needed</span>}
        </div>
        <ul className="starters">
          {STARTERS.map((starter) => (
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
      {connects && (
        <Suspense fallback={null}>
          <Connect />
        </Suspense>
      )}
    </div>
  );
}

/** True from the first time on: what a new model could do must stay readable once it has taken the demo's place. */
function useOnce(now: boolean): boolean {
  const [ever, setEver] = useState(now);
  if (now && !ever) setEver(true);
  return ever || now;
}
