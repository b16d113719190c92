import { permissions } from "../api";
import type { Values } from "../form/schema";
import { useLoaded } from "../pages/useLoaded";
import { Trace, Verdict } from "./Trace";

interface Props {
  server: string;
  tool: string;
  given: Values;
  conversationId: string;
}

/** Why this very call asks, layer by layer, as the server judges it now. */
export function Explanation({ server, tool, given, conversationId }: Props) {
  const call = { server, tool, arguments: given, conversation_id: conversationId };
  const { value, error } = useLoaded(JSON.stringify(call), () => permissions.test(call));
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
