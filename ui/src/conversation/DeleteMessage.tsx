import { useState } from "react";

import { messages } from "../api";
import { IconButton, Menu } from "../parts";
import { SureRow } from "../pages/Sure";
import type { Turn } from "../state";
import { useOpen } from "./context";
import { useVerb } from "./useVerb";

interface Props {
  turn: Turn;
  id: string;
  /** "message" or "answer". */
  what: string;
}

/** A menu with what has no way back, and the question before it. A turn under way keeps its messages. */
export function DeleteMessage({ turn, id, what }: Props) {
  const { store } = useOpen();
  const [asking, setAsking] = useState(false);
  const { run, error } = useVerb();
  if (!turn.finished) return null;
  const remove = () =>
    run(async () => {
      const { deleted } = await messages.delete(store.id, id);
      store.put({ type: "messages_deleted", turn_id: turn.id, ids: deleted });
    });
  if (asking)
    return (
      <>
        {error && <span className="bad">{error}</span>}
        <SureRow
          small
          question={`Delete this ${what} for good?`}
          act="Delete"
          onSure={() => void remove()}
          onKeep={() => setAsking(false)}
        />
      </>
    );
  return (
    <Menu
      label={`More for this ${what}`}
      trigger={<IconButton icon="more" label={`More for this ${what}`} />}
      items={[
        {
          id: "delete",
          icon: "trash",
          label: `Delete this ${what}…`,
          danger: true,
          onSelect: () => setAsking(true),
        },
      ]}
    />
  );
}
