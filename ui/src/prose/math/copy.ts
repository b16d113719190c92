/** A selection with formulas in it is copied with their TeX: MathML as text would be letters without their order. */

document.addEventListener("copy", (event) => {
  const copied = selectedWithTex(document.getSelection());
  if (!copied || !event.clipboardData) return;
  event.clipboardData.setData("text/plain", copied);
  event.preventDefault();
});

export function selectedWithTex(selection: Selection | null): string {
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return "";
  const range = selection.getRangeAt(0);
  const around = range.commonAncestorContainer;
  const within = (around instanceof Element ? around : around.parentElement)?.closest("[data-tex]");
  if (within) return texOf(within);
  const part = range.cloneContents();
  if (!part.querySelector("[data-tex]")) return "";
  return textOf(part)
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const LINES = /^(LI|TR|BR|PRE|DIV|FIGURE|FIGCAPTION)$/;
const PARAGRAPHS = /^(P|H[1-6]|UL|OL|TABLE|BLOCKQUOTE)$/;

function textOf(node: Node): string {
  if (node instanceof Element && node.hasAttribute("data-tex")) return texOf(node);
  if (node instanceof Text) return node.data;
  const inner = [...node.childNodes].map(textOf).join("");
  if (!(node instanceof Element)) return inner;
  if (/^T[DH]$/.test(node.tagName)) return `${inner}\t`;
  if (PARAGRAPHS.test(node.tagName)) return `\n\n${inner}\n\n`;
  return LINES.test(node.tagName) ? `\n${inner}` : inner;
}

function texOf(element: Element): string {
  const tex = element.getAttribute("data-tex") ?? "";
  return element.classList.contains("display") ? `\n\n${tex}\n\n` : tex;
}
