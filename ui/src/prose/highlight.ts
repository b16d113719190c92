/** Colours for code, loaded when the first code is shown. Gives a tree, so that nothing is ever injected as HTML. */

import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

const LANGUAGES = {
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  markdown,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};

const lowlight = createLowlight(LANGUAGES);
lowlight.registerAlias({
  ini: ["toml"],
  bash: ["sh", "shell", "console"],
  typescript: ["tsx"],
  javascript: ["jsx"],
});

export type Coloured = ReturnType<typeof lowlight.highlight>;

/** The code as a tree of spans, or null for a language that is not known. */
export function highlight(code: string, language: string): Coloured | null {
  return lowlight.registered(language) ? lowlight.highlight(language, code) : null;
}
