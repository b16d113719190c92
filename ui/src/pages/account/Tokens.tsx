import { useState } from "react";

import { tokens, type TokenInfo, type TokenList, type TokenMade } from "../../api";
import { useVerb } from "../../conversation/useVerb";
import { Button, CopyButton, Icon, Moment, Problem, Tag, plural } from "../../parts";
import { Sure } from "../Sure";
import type { Loaded } from "../useLoaded";
import { cannotApprove, scopeText } from "./scopes";
import { TokenForm } from "./TokenForm";

/** What programs and other browsers sign in with. */
export function Tokens({ loaded: { value, error, again } }: { loaded: Loaded<TokenList> }) {
  const [made, setMade] = useState<TokenMade | null>(null);
  const [adding, setAdding] = useState(false);
  const added = (token: TokenMade) => {
    setMade(token);
    setAdding(false);
    again();
  };
  return (
    <section aria-labelledby="tokens">
      <div className="section-head">
        <h2 id="tokens">Access tokens</h2>
        <span className="grow" />
        <Button small disabled={adding} onClick={() => setAdding(true)}>
          New token…
        </Button>
      </div>
      <div className="stack tight">
        {adding && <TokenForm onMade={added} onCancel={() => setAdding(false)} />}
        {made && <Secret made={made} onClose={() => setMade(null)} />}
        <Problem what="Couldn’t load tokens." error={error} onAgain={again} />
        {value && (
          <ul className="lines">
            {value.tokens.map((one) => (
              <TokenRow key={one.id} token={one} onRevoked={again} />
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

function TokenRow({ token, onRevoked }: { token: TokenInfo; onRevoked: () => void }) {
  const { run, busy, error } = useVerb();
  const revoke = async () => {
    if (await run(() => tokens.revoke(token.id))) onRevoked();
  };
  return (
    <li>
      <Icon name="key" />
      <b>{token.name}</b>
      {token.scopes.map((scope) => (
        <Tag key={scope}>{scopeText(scope)}</Tag>
      ))}
      {cannotApprove(token.scopes) && <small>can’t approve</small>}
      <small className="grow end">
        <Use token={token} />
      </small>
      {token.from_config ? (
        <small>Set in the data folder or WINDLASS_TOKEN; change it there</small>
      ) : (
        <Sure
          small
          ask="Revoke…"
          question={`Revoke ${token.name}? ${token.sessions > 0 ? `${plural(token.sessions, "browser")} signed out.` : "Programs that use it are refused."}`}
          act="Revoke"
          disabled={busy}
          onSure={() => void revoke()}
        />
      )}
      <Problem what={`Couldn’t revoke ${token.name}.`} error={error} />
    </li>
  );
}

function Use({ token }: { token: TokenInfo }) {
  return (
    <>
      {token.last_used_at ? (
        <>
          used <Moment at={Date.parse(token.last_used_at)} />
        </>
      ) : (
        "never used"
      )}
      {token.expires_at ? (
        <>
          , expires <time dateTime={token.expires_at}>{dayText(token.expires_at)}</time>
        </>
      ) : (
        ", never expires"
      )}
    </>
  );
}

function dayText(at: string): string {
  const day = new Date(at);
  const thisYear = day.getFullYear() === new Date().getFullYear();
  return day.toLocaleDateString(undefined, {
    day: "numeric",
    month: "short",
    ...(!thisYear && { year: "numeric" }),
  });
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
