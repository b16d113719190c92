import { useState } from "react";

import { servers, type Server } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, Icon, Problem } from "../../parts";
import { Sure } from "../Sure";
import { ServerFormPanel } from "./ServerFormPanel";
import { SignInSteps } from "./SignInSteps";

/** It answers, and wants to know who asks. */
export function SignInCard({ server }: { server: Server }) {
  const [editing, setEditing] = useState(false);
  const { run, busy, error } = useVerb();
  if (editing) return <ServerFormPanel server={server} onClose={() => setEditing(false)} />;
  const forget = () => run(() => servers.forget(server.id)).then(() => serverList.refresh());
  return (
    <section className="panel" aria-label={`${server.name}, needs sign-in`}>
      <div className="panel-head">
        <h3>{server.name}</h3>
        <span className="status warn">
          <Icon name="key" />
          Needs sign-in
        </span>
        <span className="dim cut">{server.url}</span>
      </div>
      <div className="panel-body">
        <p>{server.error ?? "It asks for a sign-in."} Calls to it wait, nothing is lost.</p>
        <SignInSteps server={server} />
        {!server.from_config && (
          <div className="panel-foot">
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <span className="grow" />
            <Sure
              ask="Remove…"
              question="Remove server and its saved values? They can’t be recovered."
              act="Remove"
              disabled={busy}
              onSure={forget}
            />
          </div>
        )}
        <Problem what="Couldn’t remove it." error={error} />
      </div>
    </section>
  );
}
