import { useEffect, useState } from "react";

import { permissions, type GrantCoverage, type GrantTried } from "../api";
import type { Values } from "../form/schema";
import { LinkButton, Moment, PlacedBar } from "../parts";
import { conditionsOf, type GrantDraft } from "./grant";

interface Props {
  server: string;
  tool: string;
  hash: string;
  draft: GrantDraft;
  given: Values;
}

const TYPING_MS = 200;

/** How many past calls of the tool the grant would have covered, as the server counts them. */
export function Coverage({ server, tool, hash, draft, given }: Props) {
  const [found, setFound] = useState<GrantCoverage | null>(null);
  const [open, setOpen] = useState(false);
  const tried = JSON.stringify({
    server,
    tool,
    hash,
    conditions: conditionsOf(draft, given),
    ...(draft.covers === "exactly" && { arguments: given }),
  });
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      const show = (coverage: GrantCoverage | null) => current && setFound(coverage);
      permissions.coverage(JSON.parse(tried) as GrantTried).then(show, () => show(null));
    }, TYPING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [tried]);
  if (!found || found.calls === 0) return null;
  return (
    <div className="coverage">
      <div className="stackbar" aria-hidden="true">
        <PlacedBar size={found.covered / found.calls} />
      </div>
      <p role="status">
        Covers <b>{`${found.covered} of your last ${found.calls}`}</b> {found.calls === 1 ? "call" : "calls"}{" "}
        to this tool.{" "}
        {found.covered > 0 && (
          <LinkButton aria-expanded={open} onClick={() => setOpen(!open)}>
            See which
          </LinkButton>
        )}
      </p>
      {open && (
        <ul className="replay-list">
          {found.examples.map((call) => (
            <li key={call.call_id}>
              <Moment at={Date.parse(call.at)} />
              <code className="cut">{call.arguments}</code>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
