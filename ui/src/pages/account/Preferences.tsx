import { useState } from "react";

import { usePreference } from "../../app/preferences";
import { Link, paths } from "../../app/router";
import { setTheme, theme, type Theme } from "../../app/theme";
import { Segments } from "../../parts";

const THEMES = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;
const ON_OFF = [
  { value: "on", label: "On" },
  { value: "off", label: "Off" },
] as const;

/** Kept on this device; each takes effect at once. */
export function Preferences() {
  const [chosen, choose] = useState<Theme>(theme);
  const [single, setSingle] = usePreference("singleKeys");
  const pick = (next: Theme) => {
    setTheme(next);
    choose(next);
  };
  return (
    <section aria-labelledby="preferences">
      <div className="section-head">
        <h2 id="preferences">Preferences</h2>
        <span className="dim">Saved in this browser</span>
      </div>
      <dl className="panel set">
        <dt>Theme</dt>
        <dd>
          <Segments label="Theme" value={chosen} options={THEMES} onChange={pick} />
        </dd>
        <dt>Single-letter keys</dt>
        <dd>
          <Segments
            label="Single-letter keys"
            value={single ? "on" : "off"}
            options={ON_OFF}
            onChange={(next) => setSingle(next === "on")}
          />
          <span className="dim">A allows, D denies, while a card has the focus</span>
        </dd>
        <dt>Notifications</dt>
        <dd>
          <Link href={paths.activity}>Choose in Activity</Link>
        </dd>
      </dl>
    </section>
  );
}
