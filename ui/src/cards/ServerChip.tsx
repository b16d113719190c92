import { useResource } from "../app/resource";
import { serverList } from "../app/resources";
import { Badge, Icon } from "../parts";

interface Props {
  id: string;
  slug: string;
}

/** The server that a call goes to, by its id: its name, then whether it is trusted. */
export function ServerChip({ id, slug }: Props) {
  const trusted = useTrusted(id);
  if (trusted === null) return <Badge>{slug}</Badge>;
  return (
    <span className={trusted ? "srv trusted" : "srv"} title={trusted ? TRUSTED : NOT_TRUSTED}>
      <span>{slug}</span>
      <i>
        <Icon name="shield" />
        {trusted ? "trusted" : "not trusted"}
      </i>
    </span>
  );
}

export const TRUSTED = "Trusted: its hints are used.";
export const NOT_TRUSTED = "Not trusted: its hints are ignored.";

/** Null where there is no such server, or none is known yet. */
export function useTrusted(id: string): boolean | null {
  return useResource(serverList).value?.find((server) => server.id === id)?.trusted ?? null;
}
