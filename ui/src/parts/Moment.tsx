import { useNow } from "./clock";
import { inFull, stamp } from "./format";

/** When something was said; in full where the pointer rests. */
export function Moment({ at }: { at: number }) {
  const now = useNow(false);
  return (
    <time className="num" dateTime={new Date(at).toISOString()} title={inFull(at)}>
      {stamp(at, now)}
    </time>
  );
}
