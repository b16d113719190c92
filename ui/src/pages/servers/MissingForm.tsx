import { useState, type ReactNode } from "react";

import { servers, type Server } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { Button, Problem } from "../../parts";
import { ValueFields, given, type Values } from "./ValueFields";

/** A draft that came with placeholders: they are filled in before its command can be confirmed. */
export function MissingForm({ server, children }: { server: Server; children: ReactNode }) {
  const [values, setValues] = useState<Values>({});
  const [tried, setTried] = useState(false);
  const { run, busy, error } = useVerb();
  const save = async () => {
    setTried(true);
    const whole = given(server.missing, values);
    if (!whole) return;
    const done = await run(() => servers.change(server.id, { values: whole }));
    if (done) await serverList.refresh();
  };
  return (
    <form
      className="form"
      aria-label={`What ${server.name} needs`}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <ValueFields asks={server.missing} values={values} onChange={setValues} tried={tried} />
      <Problem what="Couldn’t save." error={error} />
      <div className="panel-foot">
        <Button type="submit" look="primary" disabled={busy}>
          Continue
        </Button>
        {children}
      </div>
    </form>
  );
}
