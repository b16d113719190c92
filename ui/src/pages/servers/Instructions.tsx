import { servers, type Server } from "../../api";
import { serverList } from "../../app/resources";
import { useVerb } from "../../conversation/useVerb";
import { LinkButton, Problem, grouped } from "../../parts";

/** What a server says about its use, and whether the model is told. */
export function Instructions({ server }: { server: Server }) {
  const { run, busy, error } = useVerb();
  const text = server.instructions_text;
  if (!text) return null;
  const change = (instructions: boolean) =>
    void run(() =>
      servers.change(server.id, { instructions, instructions_hash: server.instructions_hash }),
    ).then(() => serverList.refresh());
  return (
    <section className="instructions" aria-label="Instructions">
      <label className="line">
        <input
          type="checkbox"
          checked={server.instructions}
          disabled={busy || server.from_config}
          onChange={(event) => change(event.target.checked)}
        />
        <b>Give its instructions to the model</b>
        <span className="dim">{grouped(text.length)} characters</span>
      </label>
      {server.instructions && server.instructions_changed && (
        <p className="warn">
          They changed since they were first used, so the model isn’t given them.{" "}
          <LinkButton disabled={busy} onClick={() => change(true)}>
            Use the new ones
          </LinkButton>
        </p>
      )}
      <p className="dim">
        The server wrote them. They are given to the model as text from outside, in chats where its tools are
        on.
      </p>
      <pre className="says" dir="auto" tabIndex={0} aria-label="Text of the instructions">
        {text}
      </pre>
      <Problem what="Couldn’t change it." error={error} />
    </section>
  );
}
