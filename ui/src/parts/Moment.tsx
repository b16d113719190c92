import { useNow } from "./clock";
import { stamp } from "./format";

/** When something was said; in full where the pointer rests. */
export function Moment({ at }: { at: number }) {
  const now = useNow(false);
  const full = new Date(at).toLocaleString("en-GB", { dateStyle: "full", timeStyle: "short" });
  return (
    <time className="num" dateTime={new Date(at).toISOString()} title={full}>
      {stamp(at, now)}
    </time>
  );
}
