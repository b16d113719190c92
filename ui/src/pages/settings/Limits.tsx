import { system, type Limit, type LimitList } from "../../api";
import { InPlace, Problem, Skeleton } from "../../parts";
import { useLoaded } from "../useLoaded";
import { LIMITS, limitOf, limitText, type LimitLabel } from "./limitLabels";
import { Section } from "./Section";

/** What holds, in words, edited where it is read. The operator's file comes first. */
export function Limits() {
  const { value, error, again } = useLoaded("limits", system.limits);
  return (
    <Section id="limits" title="Limits" words="For every turn that starts from now on.">
      <Problem what="Couldn’t load limits." error={error} onAgain={again} />
      {!value && !error && <Skeleton label="Loading limits…" rows={LIMITS.length} row={37} />}
      {value && <Rows value={value} onSaved={again} />}
    </Section>
  );
}

function Rows({ value, onSaved }: { value: LimitList; onSaved: () => void }) {
  const known = new Map(value.limits.map((limit) => [limit.name, limit]));
  return (
    <dl className="limits">
      {LIMITS.map((label) => {
        const limit = known.get(label.name);
        return limit && <Row key={label.name} label={label} limit={limit} onSaved={onSaved} />;
      })}
    </dl>
  );
}

interface RowProps {
  label: LimitLabel;
  limit: Limit;
  onSaved: () => void;
}

function Row({ label: { name, words, unit }, limit, onSaved }: RowProps) {
  const usual = limitText(limit.default, unit);
  const save = async (text: string) => {
    await system.changeLimits({ [name]: limitOf(text || usual, unit, limit.default === null) });
    onSaved();
  };
  return (
    <div>
      <dt>
        <span title={`${name} in windlass.toml`}>{words}</span>
      </dt>
      <dd className="num">
        <InPlace
          label={words}
          value={limitText(limit.value, unit)}
          fixed={fixedText(limit)}
          note={limit.source === "saved" && `default ${usual}`}
          onSave={save}
        />
      </dd>
    </div>
  );
}

function fixedText(limit: Limit): string {
  if (limit.source === "file") return "Set in windlass.toml; edit it there";
  return limit.live ? "" : `Read at start; set ${limit.name} in windlass.toml and restart`;
}
