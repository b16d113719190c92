import { permissions } from "../api";
import { useLoaded } from "../pages/useLoaded";
import { Trace, Verdict } from "./Trace";

interface Props {
  server: string;
  tool: string;
  /** The arguments as JSON, as they would be sent. */
  given: string;
  conversationId: string;
}

/** Why this very call asks, layer by layer, as the server judges it now. */
export function Explanation({ server, tool, given, conversationId }: Props) {
  const call = { server, tool, conversation_id: conversationId };
  const key = JSON.stringify([call, given]);
  const { value, error } = useLoaded(key, () => permissions.test(call, given));
  if (error)
    return (
      <p className="bad" role="alert">
        {error}
      </p>
    );
  return (
    <div className="explained" role="status">
      {value ? (
        <>
          <Verdict verdict={value} />
          <Trace layers={value.trace} />
        </>
      ) : (
        <span className="dim">Checking…</span>
      )}
    </div>
  );
}
