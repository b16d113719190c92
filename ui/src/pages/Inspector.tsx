import { IconButton } from "../parts";

interface Props {
  turnId: string;
  /** The round selected in the thread, from 1; 0 when none. */
  round: number;
  onClose: () => void;
}

/** Drawn inside the pane that App opens for ?inspect=TURN. */
export default function Inspector({ turnId, onClose }: Props) {
  return (
    <div className="insp-head">
      <h2>Turn inspector</h2>
      <span className="badge">{turnId}</span>
      <span className="grow" />
      <IconButton icon="x" label="Close the inspector" onClick={onClose} />
    </div>
  );
}
