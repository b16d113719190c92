import { memo, useMemo, type ComponentProps, type ReactNode } from "react";
import Markdown, { type Components, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";

import { hostOf } from "../parts";
import { blocksOf } from "./blocks";
import { citations } from "./citations";
import { CodeBlock } from "./CodeBlock";
import { literal } from "./literal";
import { numberColumns } from "./tables";

interface Props {
  text: string;
  /** How many numbered sources may be cited, and what a click on a number does. */
  sources?: number;
  onCite?: (n: number) => void;
  growing?: boolean;
}

/** Markdown as a tree: no raw HTML, no remote images, only web and mail links. */
export const Prose = memo(function Prose({ text, sources = 0, onCite, growing = false }: Props) {
  const blocks = useMemo(() => blocksOf(text), [text]);
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

const Block = memo(function Block({ text, sources = 0, onCite, growing = false }: Props) {
  const plugins = useMemo(() => pluginsFor(sources), [sources]);
  const writesCode = growing && isOpenCode(text);
  const components = useMemo(() => componentsFor(onCite, writesCode), [onCite, writesCode]);
  return (
    <Markdown remarkPlugins={plugins} components={components} urlTransform={safeUrl}>
      {text}
    </Markdown>
  );
});

function pluginsFor(sources: number): Options["remarkPlugins"] {
  return [remarkGfm, [literal, safeUrl], numberColumns, citations(sources)];
}

function componentsFor(onCite: Props["onCite"], writesCode: boolean): Components {
  return {
    a: ({ href, children }) => <OutLink href={href}>{children}</OutLink>,
    img: ({ src, alt }) => <OutLink href={typeof src === "string" ? src : ""}>{alt || "image"}</OutLink>,
    h1: Heading,
    h2: Heading,
    h3: Heading,
    h4: Heading,
    h5: Heading,
    h6: Heading,
    table: ({ children }) => (
      <div className="tbl" tabIndex={0} role="group" aria-label="Table">
        <table>{children}</table>
      </div>
    ),
    th: ({ style, children }) => (
      <th className={style?.textAlign === "right" ? "r" : undefined}>{children}</th>
    ),
    td: ({ style, children }) => (
      <td className={style?.textAlign === "right" ? "r" : undefined}>{children}</td>
    ),
    input: ({ checked }) => (
      <input type="checkbox" className="box" checked={checked ?? false} disabled readOnly />
    ),
    pre: ({ children }) => codeIn(children, writesCode),
    cite: ({ children, node }) =>
      node?.properties.dataUnknown === undefined ? (
        <Cite onCite={onCite} n={numberIn(children)} />
      ) : (
        <Unsourced n={numberIn(children)} />
      ),
  };
}

function Heading({ children }: { children?: ReactNode }) {
  return <h3>{children}</h3>;
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

function plain(children: ReactNode): string {
  if (typeof children === "string" || typeof children === "number") return String(children);
  return Array.isArray(children) ? children.map(plain).join("") : "";
}
