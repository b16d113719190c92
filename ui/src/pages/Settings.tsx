import { useEffect } from "react";

import { PageFrame } from "../app/PageFrame";
import "./pages.css";
import { Access } from "./settings/Access";
import { About, Keyboard } from "./settings/About";
import { Appearance } from "./settings/Appearance";
import { Limits } from "./settings/Limits";
import { Personas } from "./settings/Personas";
import { Policy } from "./settings/Policy";
import "./settings/settings.css";

const PARTS = [
  ["policy", "Rules"],
  ["access", "Access"],
  ["personas", "Personas"],
  ["limits", "Limits"],
  ["appearance", "Appearance"],
  ["keyboard", "Keyboard"],
  ["about", "About"],
] as const;

export default function Settings() {
  useEffect(() => {
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <PageFrame title="Settings">
      <div className="settings">
        <nav aria-label="Parts of the settings">
          <ul>
            {PARTS.map(([id, words]) => (
              <li key={id}>
                <a href={`#${id}`}>{words}</a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="stack">
          <Policy />
          <Access />
          <Personas />
          <Limits />
          <Appearance />
          <Keyboard />
          <About />
        </div>
      </div>
    </PageFrame>
  );
}
