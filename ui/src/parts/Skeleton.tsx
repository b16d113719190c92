import { useEffect, useState, type CSSProperties } from "react";

interface Props {
  /** What is on its way, for a reader: "Loading servers…". */
  label: string;
  rows: number;
  /** The height of a row once it is there, in px. */
  row: number;
}

const SHOWN_AFTER_MS = 300;

/** The room of what is being loaded, taken at once so that nothing moves; rows are drawn only when it takes longer. */
export function Skeleton({ label, rows, row }: Props) {
  const late = useLate();
  const size: CSSProperties & Record<`--${string}`, string> = {
    "--rows": String(rows),
    "--row-h": `${row}px`,
  };
  return (
    <div className="skeleton" role="status" aria-busy="true" style={size}>
      {late && <span className="vh">{label}</span>}
      {late && Array.from({ length: rows }, (_, n) => <div key={n} />)}
    </div>
  );
}

function useLate(): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return late;
}
