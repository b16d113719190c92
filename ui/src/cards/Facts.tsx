import type { ReactNode } from "react";

import { Link, paths } from "../app/router";
import { useResource } from "../app/resource";
import { ruleList } from "../app/resources";
import { useOpen } from "../conversation/context";
import { ruleOf, ruleText } from "../conversation/labels";
import type { Named } from "../conversation/toolbox";
import { LinkButton, Tag } from "../parts";
import type { Call } from "../state";
import { Explanation } from "./Explanation";
import { NOT_TRUSTED, TRUSTED, useTrusted } from "./ServerChip";
import type { Why } from "./why";

interface Props {
  call: Call;
  named: Named;
  why: Why;
  /** The arguments as JSON, as they would be sent. */
  given: string;
  explained: boolean;
  onExplain: () => void;
  /** What settles it, beside the reason. */
  children?: ReactNode;
}

/** Why it asks, what the server says of the tool, which server it goes to, its exact name. */
export function Facts({ call, named, why, given, explained, onExplain, children }: Props) {
  const { store } = useOpen();
  const { serverId, server, twins } = named;
  return (
    <dl className="facts">
      <dt>Why it asks</dt>
      <dd>
        {why.asker === "rule" ? <AskingRule call={call} /> : <Setting why={why} />}
        {serverId && (
          <LinkButton aria-expanded={explained} onClick={onExplain}>
            Explain
          </LinkButton>
        )}
        {children}
        {explained && (
          <Explanation
            server={serverId}
            tool={named.tool?.tool_name ?? call.spec.name}
            given={given}
            conversationId={store.id}
          />
        )}
      </dd>
      <dt>The server says</dt>
      <dd>
        <Claims named={named} />
      </dd>
      {server && (
        <>
          <dt>Goes to</dt>
          <dd>
            {twins.length > 0 ? `Also exists on ${twins.join(", ")}. This call goes to ${server}.` : server}
          </dd>
        </>
      )}
      <dt>Exact name</dt>
      <dd>
        <code>{call.spec.name}</code>
      </dd>
    </dl>
  );
}

function Setting({ why: { words, detail, permission } }: { why: Why }) {
  return (
    <>
      <span>
        {words}
        {detail && <span className="dim"> {detail}</span>}
      </span>
      {permission && <Link href={paths.permission(permission)}>Change</Link>}
    </>
  );
}

function AskingRule({ call }: { call: Call }) {
  const { number, text, name } = useRule(call.judged?.rule ?? "", call.judged?.permission ?? "");
  const permission = call.judged?.permission;
  return (
    <>
      <span>{number ? `Rule ${number}` : "A rule"}</span>
      {text && <code>{text}</code>}
      {name && <span>“{name}”</span>}
      <Link href={permission ? paths.permission(permission) : paths.permissions}>Open rule</Link>
    </>
  );
}

interface AskedBy {
  number: string;
  text: string;
  /** What the person who wrote the rule called it. */
  name: string;
}

/** The rule that asked: by its id, else by the number or the name that the log has. */
function useRule(stated: string, id: string): AskedBy {
  const rules = useResource(ruleList).value ?? [];
  const { number, text } = ruleOf(stated);
  const byId = id ? rules.findIndex((rule) => rule.id === id) : -1;
  const byName = rules.findIndex(({ name }) => name !== "" && name === stated);
  const index = byId >= 0 ? byId : number ? Number(number) - 1 : byName;
  const written = rules[index];
  if (!written) return { number, text, name: "" };
  return { number: String(index + 1), text: text && number ? text : ruleText(written), name: written.name };
}

function Claims({ named }: { named: Named }) {
  const trusted = useTrusted(named.serverId);
  const hints = named.tool?.annotations;
  if (!hints) return <span className="dim">nothing; the server is not running now</span>;
  const claims = [
    hints.readOnlyHint === undefined ? "" : hints.readOnlyHint ? "only reads" : "changes data",
    hints.destructiveHint === undefined ? "" : hints.destructiveHint ? "destructive" : "not destructive",
    hints.openWorldHint === undefined ? "" : hints.openWorldHint ? "contacts other systems" : "local only",
  ].filter(Boolean);
  return (
    <>
      {claims.map((claim) => (
        <Tag key={claim}>{claim}</Tag>
      ))}
      {claims.length === 0 && <span>nothing</span>}
      <span className="dim">{trusted ? TRUSTED : NOT_TRUSTED}</span>
    </>
  );
}
