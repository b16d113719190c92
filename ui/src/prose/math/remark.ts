/** A remark plugin: formulas within a text become `var` elements that hold their source, marks included. */

import type { Node } from "mdast";

import { mathSyntax } from "./syntax";

interface Parser {
  data: () => object;
}

interface Compiler {
  enter: (node: Node, token: unknown) => void;
  exit: (token: unknown) => void;
  sliceSerialize: (token: unknown) => string;
}

interface Extensions {
  micromarkExtensions?: unknown[];
  fromMarkdownExtensions?: unknown[];
}

export function remarkMath(this: Parser, { growing }: { growing: boolean }) {
  const data = this.data() as Extensions;
  (data.micromarkExtensions ??= []).push(mathSyntax(growing));
  (data.fromMarkdownExtensions ??= []).push({ enter: { math: formula }, exit: { math: leave } });
}

function formula(this: Compiler, token: unknown): void {
  const hChildren = [{ type: "text", value: this.sliceSerialize(token) }];
  this.enter({ type: "math", data: { hName: "var", hChildren } } as Node, token);
}

function leave(this: Compiler, token: unknown): void {
  this.exit(token);
}
