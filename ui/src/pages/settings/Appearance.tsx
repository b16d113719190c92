import { useState } from "react";

import { setTheme, theme, type Theme } from "../../app/theme";
import { Segments } from "../../parts";
import { Section } from "./Section";

const THEMES = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;

export function Appearance() {
  const [chosen, choose] = useState<Theme>(theme);
  const pick = (next: Theme) => {
    setTheme(next);
    choose(next);
  };
  return (
    <Section id="appearance" title="Appearance" words="Kept on this device.">
      <div className="setting-row">
        <span className="grow">
          <b>Theme</b>
          <small>System follows the light or dark of your computer. Motion follows its settings too.</small>
        </span>
        <Segments label="Theme" value={chosen} options={THEMES} onChange={pick} />
      </div>
    </Section>
  );
}
