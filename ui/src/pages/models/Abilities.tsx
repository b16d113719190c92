import type { ProviderTest } from "../../api";
import { Icon, type IconName } from "../../parts";
import { abilitiesOf, gradeLabel, type Ability, type Grade } from "./grades";

interface Props {
  test: ProviderTest | null;
  busy: boolean;
}

const ICONS: Record<Grade, IconName> = {
  yes: "check",
  no: "denied",
  failed: "fail",
  waiting: "queued",
  asking: "run",
};

/** One row per question: what it does, whether it did, and how it showed. */
export function Abilities({ test, busy }: Props) {
  return (
    <table className="table abilities">
      <caption className="vh">What the model does</caption>
      <thead className="vh">
        <tr>
          <th scope="col">The model</th>
          <th scope="col">Does it</th>
          <th scope="col">How it showed</th>
        </tr>
      </thead>
      <tbody>
        {abilitiesOf(test, busy).map((ability) => (
          <Row key={ability.words} ability={ability} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ ability }: { ability: Ability }) {
  const { grade } = ability;
  return (
    <tr className={grade}>
      <td className="what">
        <Icon name={ICONS[grade]} className={grade === "failed" ? "bad" : ""} />
        {ability.words}
      </td>
      <td className={grade === "waiting" ? "vh" : undefined}>{gradeLabel(grade)}</td>
      <td className="detail dim">{ability.detail}</td>
    </tr>
  );
}
