import { Icon, IconButton } from "../parts";
import { shortUri, type Attached } from "./attached";

interface Props {
  attached: readonly Attached[];
  onRemove: (one: Attached) => void;
}

/** What goes with the message. */
export function Tray({ attached, onRemove }: Props) {
  if (attached.length === 0) return null;
  return (
    <ul className="tray" aria-label="Attached">
      {attached.map((one) => (
        <li className="chip" key={`${one.server} ${one.uri}`} title={`${one.uri} from ${one.server}`}>
          <Icon name="doc" />
          <bdi className="cut">{shortUri(one.uri)}</bdi>
          <small className="dim">{one.server}</small>
          <IconButton icon="x" label={`Remove ${one.uri}`} onClick={() => onRemove(one)} />
        </li>
      ))}
    </ul>
  );
}
