import { useState } from "react";

import { sessions, tokens, type Scope, type SessionInfo, type TokenInfo, type TokenMade } from "../../api";
import { signOut } from "../../api/session";
import { useSession } from "../../app/useSession";
import { useVerb } from "../../conversation/useVerb";
import { Button, CopyButton, Icon, Moment, Tag, plural } from "../../parts";
import { TextField } from "../Field";
import { Problem } from "../Problem";
import { Sure } from "../Sure";
import { useLoaded } from "../useLoaded";
import { Section } from "./Section";

/** Who can come in: browsers that are signed in, and tokens. */
export function Access() {
  const session = useSession();
  if (session && !session.auth)
    return (
      <Section id="access" title="Access">
        <p>This server runs with --no-auth: every program on this computer can use it and approve calls.</p>
      </Section>
    );
  return (
    <Section id="access" title="Access" words="Browsers that are signed in, and tokens for programs.">
      <Sessions />
      {(!session || session.scopes.length === 0 || session.scopes.includes("admin")) && <Tokens />}
    </Section>
  );
}

function Sessions() {
  const { value, error, again } = useLoaded("sessions", sessions.list);
  return (
    <>
      <h3>Sessions</h3>
      <Problem what="Sessions couldn’t be loaded." error={error} onAgain={again} />
      {!value && !error && <p className="dim">Loading sessions…</p>}
      <ul className="lines">
        {value?.sessions.map((one) => (
          <SessionRow key={one.id} session={one} onEnded={again} />
        ))}
      </ul>
    </>
  );
}

function SessionRow({ session, onEnded }: { session: SessionInfo; onEnded: () => void }) {
  const { run, busy, error } = useVerb();
  const end = async () => {
    if (session.current) await run(signOut);
    else if (await run(() => sessions.end(session.id))) onEnded();
  };
  return (
    <li>
      <span className="grow">
        <b>{session.browser}</b>
        {session.current && <Tag tone="accent">this browser</Tag>}
        <small>
          Signed in with “{session.name}”, last used <Moment at={Date.parse(session.last_used_at)} />
        </small>
        {error && <small className="bad">{error}</small>}
      </span>
      <Button
        small
        disabled={busy}
        aria-label={session.current ? "Sign out here" : `Sign out ${session.browser}`}
        onClick={() => void end()}
      >
        Sign out
      </Button>
    </li>
  );
}

function Tokens() {
  const { value, error, again } = useLoaded("tokens", tokens.list);
  const [made, setMade] = useState<TokenMade | null>(null);
  const [adding, setAdding] = useState(false);
  return (
    <>
      <h3>Tokens</h3>
      <Problem what="Tokens couldn’t be loaded." error={error} onAgain={again} />
      {!value && !error && <p className="dim">Loading tokens…</p>}
      <ul className="lines">
        {value?.tokens.map((one) => (
          <TokenRow key={one.id} token={one} onRevoked={again} />
        ))}
      </ul>
      {made && <Secret made={made} onClose={() => setMade(null)} />}
      {adding ? (
        <TokenForm
          onMade={(token) => {
            setMade(token);
            setAdding(false);
            again();
          }}
          onCancel={() => setAdding(false)}
        />
      ) : (
        <div className="panel-foot">
          <Button icon="plus" onClick={() => setAdding(true)}>
            New token
          </Button>
        </div>
      )}
    </>
  );
}

function TokenRow({ token, onRevoked }: { token: TokenInfo; onRevoked: () => void }) {
  const { run, busy, error } = useVerb();
  const revoke = async () => {
    if (await run(() => tokens.revoke(token.id))) onRevoked();
  };
  return (
    <li>
      <span className="grow">
        <b>{token.name}</b>
        {token.scopes.map((scope) => (
          <Tag key={scope}>{scope}</Tag>
        ))}
        <small>
          {token.last_used_at ? (
            <>
              Last used <Moment at={Date.parse(token.last_used_at)} />
            </>
          ) : (
            "Never used"
          )}
          {token.sessions > 0 && `, ${plural(token.sessions, "browser")} signed in`}
          {token.from_config && ", from the data folder or WINDLASS_TOKEN"}
        </small>
        {error && <small className="bad">{error}</small>}
      </span>
      {!token.from_config && (
        <Sure
          small
          ask="Revoke…"
          question="Its browsers are signed out."
          act={`Revoke ${token.name}`}
          disabled={busy}
          onSure={() => void revoke()}
        />
      )}
    </li>
  );
}

/** Shown this once: the server keeps only its hash. */
function Secret({ made, onClose }: { made: TokenMade; onClose: () => void }) {
  return (
    <div className="secret" role="status">
      <p className="note">
        <Icon name="key" />
        <span>Copy the token “{made.token.name}” now. It’s shown only once.</span>
      </p>
      <div className="panel-foot">
        <code className="mono">{made.secret}</code>
        <CopyButton text={made.secret} label="Copy the token" />
        <span className="grow" />
        <Button small look="ghost" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  );
}

const SCOPES: readonly (readonly [Scope, string])[] = [
  ["read", "Read chats"],
  ["chat", "Chat"],
  ["approve", "Approve calls"],
  ["ops", "Metrics and readiness"],
  ["admin", "Everything"],
];

function TokenForm({ onMade, onCancel }: { onMade: (made: TokenMade) => void; onCancel: () => void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["chat"]);
  const [tried, setTried] = useState(false);
  const { run, busy, error } = useVerb();
  const make = async () => {
    setTried(true);
    if (!name.trim() || scopes.length === 0) return;
    await run(async () => onMade(await tokens.make({ name: name.trim(), scopes: [...scopes] })));
  };
  return (
    <form
      className="form"
      aria-label="New token"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <TextField
        label="Name"
        autoFocus
        value={name}
        onText={setName}
        placeholder="phone"
        problem={tried && !name.trim() ? "Enter a name." : ""}
      />
      <fieldset className="field scopes">
        <legend>May</legend>
        {SCOPES.map(([scope, words]) => (
          <label className="check" key={scope}>
            <input
              type="checkbox"
              className="box"
              checked={scopes.includes(scope)}
              onChange={(event) =>
                setScopes(event.target.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
              }
            />
            <span>{words}</span>
          </label>
        ))}
        {tried && scopes.length === 0 && <span className="wrong">Choose at least one.</span>}
      </fieldset>
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
