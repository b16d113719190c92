import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, type RefObject } from "react";

import { answersBeside, wordingsBeside, type Conversation, type Turn } from "../state";
import { TurnView, packed } from "./TurnView";

interface Props {
  conversation: Conversation;
  path: readonly Turn[];
  inspect: string;
  round: number;
  /** The turn that a search hit is in, brought near so that it is drawn. */
  at: string;
  scroller: RefObject<HTMLDivElement | null>;
}

const VIRTUAL_FROM = 200;

/** The turns of the shown path. Beyond some hundreds only those near the window are drawn. */
export default function Thread(props: Props) {
  return props.path.length > VIRTUAL_FROM ? <VirtualTurns {...props} /> : <AllTurns {...props} />;
}

function AllTurns({ path, ...rest }: Props) {
  return path.map((turn) => <OneTurn key={turn.id} turn={turn} {...rest} />);
}

const GUESSED_HEIGHT_PX = 240;

function VirtualTurns({ path, scroller, at, ...rest }: Props) {
  const list = useVirtualizer({
    count: path.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => GUESSED_HEIGHT_PX,
    getItemKey: (index) => path[index]?.id ?? index,
    useFlushSync: false, // drawn behind the scroll's own task, in pieces that hold up no frame
    overscan: 2, // a jump draws these at once: four took half as long again
    initialOffset: () => path.length * GUESSED_HEIGHT_PX,
  });
  useEffect(() => {
    const index = path.findIndex(({ id }) => id === at);
    if (index >= 0) list.scrollToIndex(index, { align: "start" });
    // Once for each hit: the list and the path are others with every word that comes.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [at]);
  return (
    <div className="virtual" style={{ height: list.getTotalSize() }}>
      {list.getVirtualItems().map((item) => {
        const turn = path[item.index];
        return (
          turn && (
            <div
              key={item.key}
              ref={list.measureElement}
              data-index={item.index}
              className="virtual-item"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <OneTurn turn={turn} {...rest} />
            </div>
          )
        );
      })}
    </div>
  );
}

function OneTurn({
  conversation,
  turn,
  inspect,
  round,
}: Omit<Props, "path" | "scroller" | "at"> & { turn: Turn }) {
  return (
    <TurnView
      turn={turn}
      answers={packed(answersBeside(conversation, turn))}
      wordings={packed(wordingsBeside(conversation, turn))}
      inspected={turn.id === inspect}
      inspectedRound={turn.id === inspect ? round : 0}
    />
  );
}
