import { memo, useMemo, type ComponentProps, type ReactNode } from "react";
import Markdown, { type Components, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";

import { hostOf } from "../parts";
import { blocksOf } from "./blocks";
import { citations } from "./citations";
import { CodeBlock } from "./CodeBlock";
import { directions } from "./directions";
import { displayState, mayHoldMath } from "./formula";
import { literal } from "./literal";
import { plain } from "./plain";
import { ProseTable } from "./ProseTable";
import { tables } from "./tables";
import { useMath } from "./useMath";

interface Props {
  text: string;
  /** How many numbered sources may be cited, and what a click on a number does. */
  sources?: number;
  onCite?: (n: number) => void;
  growing?: boolean;
}

/** Markdown as a tree: no raw HTML, no remote images, only web and mail links. */
export const Prose = memo(function Prose({ text, sources = 0, onCite, growing = false }: Props) {
  const blocks = useMemo(() => blocksOf(text, growing), [text, growing]);
  return (
    <div className="prose" {...(growing && { "aria-live": "off" as const })}>
      {blocks.map((block, n) => (
        <Block
          key={n}
          text={block}
          sources={sources}
          onCite={onCite}
          growing={growing && n === blocks.length - 1}
        />
      ))}
    </div>
  );
});

const Block = memo(function Block(props: Props) {
  const { text, growing = false } = props;
  const formula = displayState(text);
  const isFormula = formula === "whole" || (formula === "open" && growing);
  return isFormula ? <DisplayFormula source={text} open={formula === "open"} /> : <TextBlock {...props} />;
});

/** A formula that is not closed yet is shown as it is written: half of one is no TeX. */
function DisplayFormula({ source, open }: { source: string; open: boolean }) {
  const math = useMath(true);
  if (math && !open) return <math.MathML source={source} />;
  return (
    <div className="tex-source" dir="ltr">
      <code>{source}</code>
    </div>
  );
}

function TextBlock({ text, sources = 0, onCite, growing = false }: Props) {
  const holdsMath = mayHoldMath(text);
  const math = useMath(holdsMath);
  const plugins = useMemo(
    () => pluginsFor(sources, holdsMath && (math ? [math.remarkMath, { growing }] : withoutEscapes)),
    [sources, holdsMath, math, growing],
  );
  const writesCode = growing && isOpenCode(text);
  const components = useMemo(() => componentsFor(onCite, writesCode, math), [onCite, writesCode, math]);
  return (
    <Markdown remarkPlugins={plugins} components={components} urlTransform={safeUrl}>
      {text}
    </Markdown>
  );
}

type Plugins = NonNullable<Options["remarkPlugins"]>;

function pluginsFor(sources: number, math: Plugins[number] | false): Plugins {
  return [remarkGfm, [literal, safeUrl], ...(math ? [math] : []), tables, citations(sources), directions];
}

/** A remark plugin for the moment before formulas can be read: they show as they were written. */
function withoutEscapes(this: { data: () => object }) {
  const data = this.data() as { micromarkExtensions?: unknown[] };
  (data.micromarkExtensions ??= []).push({ disable: { null: ["characterEscape"] } });
}

function componentsFor(
  onCite: Props["onCite"],
  writesCode: boolean,
  math: ReturnType<typeof useMath>,
): Components {
  return {
    a: ({ href, children }) => <OutLink href={href}>{children}</OutLink>,
    img: ({ src, alt }) => <OutLink href={typeof src === "string" ? src : ""}>{alt || "image"}</OutLink>,
    // The page's own titles come first in its outline.
    h1: ({ dir, children }) => <h2 dir={dir}>{children}</h2>,
    h2: ({ dir, children }) => <h3 dir={dir}>{children}</h3>,
    h3: ({ dir, children }) => <h4 dir={dir}>{children}</h4>,
    h4: ({ dir, children }) => <h5 dir={dir}>{children}</h5>,
    h5: ({ dir, children }) => <h6 dir={dir}>{children}</h6>,
    table: ({ dir, children, node }) => (
      <ProseTable dir={dir} node={node}>
        {children}
      </ProseTable>
    ),
    input: ({ checked }) => (
      <input type="checkbox" className="box" checked={checked ?? false} disabled readOnly />
    ),
    code: ({ className, children }) => (
      <code className={className} dir="ltr">
        {children}
      </code>
    ),
    pre: ({ children }) => codeIn(children, writesCode),
    var: ({ children }) => (math ? <math.MathML source={plain(children)} /> : children),
    cite: ({ children, node }) =>
      node?.properties.dataUnknown === undefined ? (
        <Cite onCite={onCite} n={numberIn(children)} />
      ) : (
        <Unsourced n={numberIn(children)} />
      ),
  };
}

function Cite({ n, onCite }: { n: number; onCite: Props["onCite"] }) {
  return (
    <button type="button" className="cite" aria-label={`Source ${n}`} onClick={() => onCite?.(n)}>
      {n}
    </button>
  );
}

function Unsourced({ n }: { n: number }) {
  return (
    <span className="cite none" title={`There is no source ${n}`}>
      {n}?<span className="vh"> (no such source)</span>
    </span>
  );
}

/** An address is shown with its real host when its words do not say it. */
export function OutLink({ href = "", children }: { href?: string; children?: ReactNode }) {
  if (!safeUrl(href)) return <>{children}</>;
  const host = hostOf(href);
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
        {children}
      </a>
      {!plain(children).includes(host) && /^https?:/.test(href) && <small className="host"> {host}</small>}
    </>
  );
}

/** Only http, https and mailto lead anywhere. */
export function safeUrl(url: string): string {
  return /^(https?:\/\/|mailto:)/i.test(url) ? url : "";
}

function codeIn(children: ReactNode, growing: boolean): ReactNode {
  const props = (children as { props?: ComponentProps<"code"> } | null)?.props;
  const language = /language-([\w+#-]+)/.exec(props?.className ?? "")?.[1] ?? "";
  return <CodeBlock code={plain(props?.children).replace(/\n$/, "")} language={language} growing={growing} />;
}

function isOpenCode(block: string): boolean {
  return (block.match(/^ {0,3}(```|~~~)/gm)?.length ?? 0) % 2 === 1;
}

function numberIn(children: ReactNode): number {
  return Number(plain(children));
}
