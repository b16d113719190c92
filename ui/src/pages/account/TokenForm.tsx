import { useState } from "react";

import { tokens, type Scope, type TokenMade } from "../../api";
import { useVerb } from "../../conversation/useVerb";
import { Button, Problem } from "../../parts";
import { SelectField, TextField } from "../Field";
import { SCOPES } from "./scopes";

interface Props {
  onMade: (made: TokenMade) => void;
  onCancel: () => void;
}

const LASTS = [
  ["0", "Until revoked"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "1 year"],
] as const;
type Lasts = (typeof LASTS)[number][0];

const DAY_MS = 24 * 3600 * 1000;

export function TokenForm({ onMade, onCancel }: Props) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["chat"]);
  const [lasts, setLasts] = useState<Lasts>("0");
  const [tried, setTried] = useState(false);
  const { run, busy, error } = useVerb();
  const make = async () => {
    setTried(true);
    if (!name.trim() || scopes.length === 0) return;
    const days = Number(lasts);
    const wanted = {
      name: name.trim(),
      scopes: [...scopes],
      ...(days > 0 && { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
    };
    await run(async () => onMade(await tokens.make(wanted)));
  };
  return (
    <form
      className="panel form"
      aria-label="New token"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <div className="two">
        <TextField
          label="Name"
          autoFocus
          value={name}
          onText={setName}
          placeholder="phone"
          problem={tried && !name.trim() ? "Enter a name." : ""}
        />
        <SelectField label="Expires" value={lasts} onPick={setLasts} options={LASTS} />
      </div>
      <Scopes scopes={scopes} onChange={setScopes} problem={tried && scopes.length === 0} />
      <Problem what="Couldn’t make the token." error={error} />
      <div className="panel-foot">
        <Button type="submit" look="primary" disabled={busy}>
          Make token
        </Button>
        <Button look="ghost" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

interface ScopesProps {
  scopes: readonly Scope[];
  onChange: (scopes: readonly Scope[]) => void;
  problem: boolean;
}

function Scopes({ scopes, onChange, problem }: ScopesProps) {
  return (
    <fieldset className="field scopes">
      <legend>It can</legend>
      {SCOPES.map(([scope, words]) => (
        <label className="check" key={scope}>
          <input
            type="checkbox"
            className="box"
            checked={scopes.includes(scope)}
            onChange={(event) =>
              onChange(event.target.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
            }
          />
          <span>{words}</span>
        </label>
      ))}
      {problem && <span className="wrong">Choose at least one.</span>}
    </fieldset>
  );
}
