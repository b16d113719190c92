import { IconButton } from "../parts";
import type { Versions } from "../state";
import { useOpen } from "./context";

interface Props {
  versions: Versions;
  /** "answer" or "message". */
  what: string;
}

/** Steps through branches: "2 of 3". Nothing when there is only one. */
export function Pager({ versions: { index, ids }, what }: Props) {
  const { store } = useOpen();
  if (ids.length < 2) return null;
  const pick = (index: number) => {
    const turn_id = ids[index];
    if (turn_id) store.put({ type: "branch_picked", turn_id });
  };
  return (
    <span className="pager">
      <IconButton
        icon="left"
        label={`Previous ${what}`}
        disabled={index <= 0}
        onClick={() => pick(index - 1)}
      />
      <span>
        {index + 1} of {ids.length}
      </span>
      <IconButton
        icon="right"
        label={`Next ${what}`}
        disabled={index >= ids.length - 1}
        onClick={() => pick(index + 1)}
      />
    </span>
  );
}
