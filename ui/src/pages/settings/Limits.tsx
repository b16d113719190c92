import { system, type Limit } from "../../api";
import { Tag } from "../../parts";
import { useLoaded } from "../useLoaded";
import { LIMITS, limitText } from "./limitLabels";
import { Section } from "./Section";

const SOURCES: Record<Limit["source"], string> = {
  default: "default",
  file: "windlass.toml",
};

/** What holds, and who set it. They are the operator's word, so the page only shows them. */
export function Limits() {
  const { value } = useLoaded("limits", system.limits);
  const set = new Map(value?.limits.map((limit) => [limit.name, limit]));
  return (
    <Section id="limits" title="Limits" words="Set in windlass.toml, under [limits].">
      <div className="table-box">
        <table className="table limits">
          <thead>
            <tr>
              <th scope="col">Limit</th>
              <th scope="col">Name</th>
              <th scope="col" className="r">
                {value ? "Value" : "Default"}
              </th>
              {value && <th scope="col">Set by</th>}
            </tr>
          </thead>
          <tbody>
            {LIMITS.map(({ name, words, unit, usual }) => {
              const limit = set.get(name);
              return (
                <tr key={name}>
                  <td className="words">{words}</td>
                  <td>
                    <code className="mono">{name}</code>
                  </td>
                  <td className="r">{limitText(limit ? limit.value : usual, unit)}</td>
                  {value && (
                    <td>
                      <Tag>{SOURCES[limit?.source ?? "default"]}</Tag>
                    </td>
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {!value && (
        <p>
          These are the defaults. <code className="mono">windlass doctor</code> prints what is in force.
        </p>
      )}
    </Section>
  );
}
