import type { ImportedServers } from "../../api";
import { Banner } from "../../parts";

/** Whether there is something to read before the drafts. */
export function hasNotes({ notes, unread }: ImportedServers): boolean {
  return unread.length > 0 || notes.some(({ problem, warnings }) => problem !== "" || warnings.length > 0);
}

/** What was left out, and what of each entry was not taken: nothing is lost in silence. */
export function ImportNotes({ imported: { notes, unread } }: { imported: ImportedServers }) {
  return (
    <>
      {notes
        .filter(({ problem, warnings }) => problem || warnings.length > 0)
        .map(({ name, problem, warnings }, n) => (
          <Banner
            key={n}
            tone={problem ? "bad" : "warn"}
            icon={problem ? "fail" : "alert"}
            role={n === 0 ? "status" : undefined}
          >
            <strong dir="auto">{name}</strong>{" "}
            {problem ? `was left out. ${problem}` : `came in. ${warnings.join(" ")}`}
          </Banner>
        ))}
      {unread.length > 0 && <p className="dim">Not about servers, and not read: {unread.join(", ")}.</p>}
    </>
  );
}
