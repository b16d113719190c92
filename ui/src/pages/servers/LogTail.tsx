import { useState } from "react";

import { servers, type Server } from "../../api";
import { CopyButton, LinkButton, Problem, Skeleton } from "../../parts";
import { useLoaded } from "../useLoaded";

interface Props {
  server: Server;
  /** How many are shown at first. */
  lines: number;
}

/** The end of what the server wrote to stderr. A new status reads it anew. */
export function LogTail({ server, lines }: Props) {
  const [whole, setWhole] = useState(false);
  const { value, error, again } = useLoaded(`${server.id} ${server.status} ${server.retry_at ?? ""}`, () =>
    servers.log(server.id),
  );
  if (error) return <Problem what="Couldn’t load the log." error={error} onAgain={again} />;
  if (!value) return <Skeleton label="Loading log…" rows={lines} row={20} />;
  if (value.lines.length === 0) return <p className="dim">No error output</p>;
  const shown = whole ? value.lines : value.lines.slice(-lines);
  const more = value.lines.length > shown.length || whole;
  return (
    <>
      <pre className={whole ? "pre log whole" : "pre log"} tabIndex={0} aria-label="Last lines of stderr">
        {shown.map((line, n) => (
          <LogLine key={n} line={line} />
        ))}
      </pre>
      <div className="call-foot">
        <span className="num">
          stderr, last {shown.length} of {value.count} lines
        </span>
        <span className="links">
          {more && (
            <LinkButton icon="term" onClick={() => setWhole(!whole)}>
              {whole ? "Fewer lines" : "Full log"}
            </LinkButton>
          )}
          <LinkButton icon="retry" onClick={again}>
            Refresh
          </LinkButton>
          <CopyButton text={value.lines.join("\n")} />
        </span>
      </div>
    </>
  );
}

/** A time at the start of a line is dimmed. */
function LogLine({ line }: { line: string }) {
  const time = /^\[?\d[\dT:.,+Z-]*\]?(?= )/.exec(line)?.[0] ?? "";
  return (
    <>
      {time && <span className="c">{time}</span>}
      {line.slice(time.length)}
      {"\n"}
    </>
  );
}
