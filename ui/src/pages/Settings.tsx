import { useEffect } from "react";

import { PageFrame } from "../app/PageFrame";
import { Link, paths } from "../app/router";
import "./pages.css";
import { About, Keyboard } from "./settings/About";
import { Limits } from "./settings/Limits";
import { Personas } from "./settings/Personas";
import { Section } from "./settings/Section";
import "./settings/settings.css";

const PARTS = [
  ["policy", "Rules"],
  ["personas", "Personas"],
  ["limits", "Limits"],
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
            <li>
              <Link href={paths.account}>Account</Link>
            </li>
            {PARTS.map(([id, words]) => (
              <li key={id}>
                <a href={`#${id}`}>{words}</a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="stack">
          <Section id="policy" title="Rules">
            <p className="note">
              <span>
                Rules are edited in <Link href={paths.permissions}>Permissions</Link>, with the calls that
                they would change.
              </span>
            </p>
          </Section>
          <Personas />
          <Limits />
          <Keyboard />
          <About />
        </div>
      </div>
    </PageFrame>
  );
}
