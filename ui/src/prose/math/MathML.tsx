/** TeX as MathML. Temml gives a tree, which becomes elements one by one: no text is ever parsed as markup. */

import { createElement, useMemo, type CSSProperties, type ReactNode } from "react";
import temml from "temml";

import { formulaIn } from "../formula";

/** What Temml's tree is made of: elements, fragments without a type, and texts. */
interface TexNode {
  type?: string;
  text?: string;
  children?: readonly TexNode[];
  attributes?: Readonly<Record<string, string>>;
  classes?: readonly string[];
  style?: CSSProperties;
}

const LONGEST = 20_000;
const LARGEST_EM: [number, number] = [60, 60];

/** `source` with its marks, which is also what is copied. */
export function MathML({ source }: { source: string }) {
  const drawn = useMemo(() => mathOf(source), [source]);
  if (!drawn) return <Unreadable source={source} />;
  return (
    <span className={drawn.display ? "tex display" : "tex"} dir="ltr" data-tex={source.trim()}>
      {drawn.math}
    </span>
  );
}

function Unreadable({ source }: { source: string }) {
  return (
    <span className="tex-source" dir="ltr">
      <code>{source.trim()}</code> <small>Couldn’t render</small>
    </span>
  );
}

function mathOf(source: string): { math: ReactNode; display: boolean } | null {
  const formula = formulaIn(source);
  if (!formula || formula.tex.length > LONGEST) return null;
  try {
    const options = { displayMode: formula.display, throwOnError: true, maxSize: LARGEST_EM };
    const tree = temml.__renderToMathMLTree(formula.tex, options) as TexNode;
    return { math: elementOf(tree, 0), display: formula.display };
  } catch {
    return null; // whatever a model wrote that is not TeX
  }
}

function elementOf(node: TexNode, key: number): ReactNode {
  if (node.text !== undefined) return node.text;
  const children = node.children?.map(elementOf) ?? [];
  if (!node.type) return children;
  return createElement(node.type, { key, ...attributesOf(node) }, ...children);
}

// What only `\label` and `\href` would set: the names and addresses of the page are its own.
const LEFT_OUT = new Set(["id", "href", "src", "style"]);

function attributesOf({ attributes = {}, classes = [], style = {} }: TexNode): Record<string, unknown> {
  return {
    ...Object.fromEntries(Object.entries(attributes).filter(([name]) => !LEFT_OUT.has(name))),
    className: classes.filter(Boolean).join(" ") || undefined,
    style: { ...style, ...(attributes.style && styleOf(attributes.style)) },
  };
}

function styleOf(written: string): CSSProperties {
  const pairs = written.split(";").map((rule) => rule.split(":").map((part) => part.trim()));
  return Object.fromEntries(
    pairs.flatMap(([name, value]) =>
      name && value ? [[name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()), value]] : [],
    ),
  );
}
