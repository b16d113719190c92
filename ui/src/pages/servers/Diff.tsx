import type { Line } from "../diff";
import type { Section } from "./toolDiff";

const SIGNS = { same: "", del: "Removed: ", add: "Added: " };

/** Minus and plus signs as well as colour; the words that changed are underlined. */
export function Diff({ sections }: { sections: readonly Section[] }) {
  return (
    <div className="diff" role="group" aria-label="Difference" tabIndex={0}>
      {sections.map((section) => (
        <SectionLines key={section.title} section={section} />
      ))}
    </div>
  );
}

function SectionLines({ section }: { section: Section }) {
  return (
    <>
      <div className="h">
        <span>{section.title}</span>
      </div>
      {section.lines.map((line, n) => (
        <DiffLine key={n} line={line} />
      ))}
    </>
  );
}

function DiffLine({ line }: { line: Line }) {
  return (
    <div className={line.kind === "same" ? undefined : line.kind}>
      <span>
        {SIGNS[line.kind] && <span className="vh">{SIGNS[line.kind]}</span>}
        {line.pieces.map((piece, n) => (piece.marked ? <Marked key={n} text={piece.text} /> : piece.text))}
      </span>
    </div>
  );
}

/** The space before new words is not worth a mark. */
function Marked({ text }: { text: string }) {
  const words = text.trimStart();
  return (
    <>
      {text.slice(0, text.length - words.length)}
      <mark>{words}</mark>
    </>
  );
}
