import type { Permission } from "../../api";
import { Segments, serverNow } from "../../parts";
import { expiresSoon } from "./words";

const FILTERS = ["all", "auto", "ask", "deny", "unused", "soon"] as const;
export type Filter = (typeof FILTERS)[number];

const TEXT: Record<Filter, string> = {
  all: "All",
  auto: "Allow",
  ask: "Ask",
  deny: "Deny",
  unused: "Never used",
  soon: "Expires soon",
};

export function passes(one: Permission, filter: Filter): boolean {
  switch (filter) {
    case "all":
      return true;
    case "unused":
      return one.last_used_at === null;
    case "soon":
      return expiresSoon(one, serverNow());
    default:
      return one.effect === filter;
  }
}

interface Props {
  list: readonly Permission[];
  filter: Filter;
  onFilter: (filter: Filter) => void;
}

export function Filters({ list, filter, onFilter }: Props) {
  const counted = FILTERS.map((value) => ({
    value,
    label: `${TEXT[value]} ${list.filter((one) => passes(one, value)).length}`,
  }));
  return (
    <div className="perm-filters">
      <Segments kind="tabs" label="Show" value={filter} onChange={onFilter} options={counted} />
    </div>
  );
}
