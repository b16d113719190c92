import { useEffect, useState, type ReactNode } from "react";

import { saveText } from "../api";
import { CopyButton, LinkButton } from "../parts";
import type { Coloured } from "./highlight";

interface Props {
  code: string;
  language: string;
  /** Code that still grows is not coloured: the colours would jump, and cost a frame each. */
  growing: boolean;
}

export function CodeBlock({ code, language, growing }: Props) {
  const coloured = useColours(code, language, growing);
  const [wraps, setWraps] = useState(false);
  return (
    <figure className="code" dir="ltr">
      <figcaption>
        <span className="grow">{language || "text"}</span>
        <LinkButton aria-pressed={wraps} onClick={() => setWraps(!wraps)}>
          Wrap
        </LinkButton>
        <CopyButton text={code} />
        {!growing && (
          <LinkButton icon="save" onClick={() => saveText(code, `code.${endingOf(language)}`)}>
            Save
          </LinkButton>
        )}
      </figcaption>
      <pre className={wraps ? "pre wrap" : "pre"} tabIndex={0} aria-label="Code">
        {coloured ? drawn(coloured.children) : code}
        {growing && <span className="caret" />}
      </pre>
    </figure>
  );
}

/** Those whose name is not their ending; any other name of letters alone is. */
const ENDINGS: Record<string, string> = {
  bash: "sh",
  console: "sh",
  shell: "sh",
  python: "py",
  javascript: "js",
  typescript: "ts",
  markdown: "md",
  ruby: "rb",
  rust: "rs",
  yaml: "yml",
  "c++": "cpp",
  "c#": "cs",
  kotlin: "kt",
};

function endingOf(language: string): string {
  const name = language.toLowerCase();
  return ENDINGS[name] ?? (/^[a-z]{1,5}$/.test(name) ? name : "txt");
}

function useColours(code: string, language: string, growing: boolean): Coloured | null {
  const [coloured, setColoured] = useState<{ code: string; tree: Coloured | null } | null>(null);
  useEffect(() => {
    if (growing || !language) return;
    let wanted = true;
    void import("./highlight").then(({ highlight }) => {
      if (wanted) setColoured({ code, tree: highlight(code, language) });
    });
    return () => {
      wanted = false;
    };
  }, [code, language, growing]);
  return coloured?.code === code ? coloured.tree : null;
}

type TreeNode = Coloured["children"][number];

function drawn(nodes: readonly TreeNode[]): ReactNode {
  return nodes.map((node, n) => {
    if (node.type === "text") return node.value;
    if (node.type !== "element") return null;
    const names = node.properties.className;
    return (
      <span key={n} className={Array.isArray(names) ? colourOf(names.map(String)) : undefined}>
        {drawn(node.children)}
      </span>
    );
  });
}

const COLOURS: Record<string, string> = {
  "hljs-string": "s",
  "hljs-attr": "k",
  "hljs-number": "n",
  "hljs-literal": "n",
  "hljs-comment": "c",
  "hljs-quote": "c",
  "hljs-keyword": "k",
  "hljs-addition": "s",
  "hljs-deletion": "n",
  "hljs-section": "k",
  "hljs-title": "k",
};

function colourOf(names: string[]): string | undefined {
  return names.map((name) => COLOURS[name]).find(Boolean);
}
