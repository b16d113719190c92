import { CopyButton, Icon, duration } from "../../parts";
import type { ModelFailed, Round } from "../../state";
import { JsonText } from "./JsonText";
import { pieces, repairsIn, type Repair } from "./repairs";

interface Props {
  round: Round | undefined;
  failures: readonly ModelFailed[];
}

/** What the model replied. The bytes of the provider are kept only where something had to be repaired. */
export function RawReply({ round, failures }: Props) {
  return (
    <>
      {failures.map((failure) => (
        <FailedAttempt key={failure.seq} failure={failure} />
      ))}
      {round ? <Reply round={round} /> : <p className="dim">No reply has come.</p>}
    </>
  );
}

/** Only what the provider sent may be called raw. */
export function replyName(round: Round | undefined): string {
  return round?.reply.raw ? "Raw reply" : "Parsed reply";
}

function Reply({ round }: { round: Round }) {
  const { reply } = round;
  const repairs = repairsIn(round);
  const raw = reply.raw ? reply.raw : asRead(round);
  const marked = (reply.calls ?? []).map((call) => call.raw ?? "");
  return (
    <>
      <div className="pre wrap tall" tabIndex={0} aria-label={replyName(round)}>
        {pieces(raw, marked).map((piece, n) =>
          piece.mended ? (
            <mark key={n}>
              <JsonText text={piece.text} />
            </mark>
          ) : (
            <JsonText key={n} text={piece.text} />
          ),
        )}
      </div>
      <div className="call-foot">
        <span>{keptText(Boolean(reply.raw), repairs.length)}</span>
        <span className="links">
          <CopyButton text={raw} />
        </span>
      </div>
      {repairs.length > 0 && (
        <>
          <h4 className="insp-sub">{repairs.length === 1 ? "1 repair" : `${repairs.length} repairs`}</h4>
          {repairs.map((repair) => (
            <RepairCard key={repair.id} repair={repair} />
          ))}
        </>
      )}
    </>
  );
}

function keptText(raw: boolean, repairs: number): string {
  if (raw) return "Original, as the provider sent it";
  if (repairs > 0) return "Parsed reply. Repairs are shown below.";
  return "Parsed reply, no repairs";
}

function RepairCard({ repair }: { repair: Repair }) {
  return (
    <div className="repair">
      <h4>
        <Icon name="wrench" />
        {repair.words}
      </h4>
      {(repair.raw || repair.used) && (
        <div className="beforeafter">
          <span>raw</span>
          <code>{repair.raw || "–"}</code>
          <span>used</span>
          <code>{repair.used}</code>
        </div>
      )}
    </div>
  );
}

function FailedAttempt({ failure }: { failure: ModelFailed }) {
  return (
    <div className="repair">
      <h4>
        <Icon name="fail" className="bad" />
        <span>
          Attempt failed: {failure.message || failure.cause}
          {failure.hint && ` ${failure.hint}`}
        </span>
      </h4>
      <div className="beforeafter">
        <span>cause</span>
        <code>
          {[failure.cause, failure.status ? `HTTP ${failure.status}` : ""].filter(Boolean).join(", ")}
        </code>
        <span>took</span>
        <code>{duration(failure.took_ms ?? 0)}</code>
        {failure.wait_s ? (
          <>
            <span>waited</span>
            <code>{duration(failure.wait_s * 1000)}</code>
          </>
        ) : null}
        {failure.partial && (
          <>
            <span>said</span>
            <code>{failure.partial}</code>
          </>
        )}
      </div>
    </div>
  );
}

function asRead({ reply }: Round): string {
  const message = {
    content: reply.text || null,
    ...(reply.reasoning && { reasoning: reply.reasoning }),
    tool_calls: (reply.calls ?? []).map((call) => ({
      id: call.wire_id,
      name: call.name,
      arguments: call.arguments,
    })),
  };
  return JSON.stringify({ finish_reason: reply.finish, message, usage: reply.usage }, null, 2);
}
