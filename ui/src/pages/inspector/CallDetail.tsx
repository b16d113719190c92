import { results } from "../../api";
import { Banner, bytes, CopyButton, duration, JsonView, parseJson, sizeInBytes } from "../../parts";
import { sizeOf } from "../../conversation/media";
import { argumentsOf, type Call } from "../../state";
import { useLoaded } from "../useLoaded";
import { sentence } from "./repairs";

/** What was sent to the tool, and what the model had written. */
export function CallSent({ call }: { call: Call }) {
  const sent = argumentsOf(call);
  const value = parseJson(sent);
  const edited = Boolean(call.decided?.arguments);
  return (
    <>
      <dl className="facts">
        <Fact name="Exact name" code>
          {call.spec.name}
        </Fact>
        {call.judged?.rule && (
          <Fact name="Rule" code>
            {call.judged.rule}
          </Fact>
        )}
        {call.judged?.tool_hash && (
          <Fact name="Definition" code>
            {call.judged.tool_hash}
          </Fact>
        )}
        <Fact name="Attempts">{attempts(call)}</Fact>
      </dl>
      {value === undefined ? <div className="pre wrap">{sent}</div> : <JsonView value={value} open={4} />}
      <div className="call-foot">
        <span>{edited ? "As you changed them." : "As sent."}</span>
        <span className="links">
          <CopyButton text={sent} />
        </span>
      </div>
      {edited && <Raw title="The model had written" text={call.spec.arguments} />}
      {call.spec.raw && (
        <Raw title={(call.spec.repairs ?? []).map(sentence).join(" ") || "Original"} text={call.spec.raw} />
      )}
    </>
  );
}

/** What came back, and what the model was told of it. */
export function CallResult({ call }: { call: Call }) {
  const output = call.finished?.output;
  const whole = output?.shortened ? (output.result_id ?? "") : "";
  const { value, error } = useLoaded(whole, () => results.piece(whole, 0, 200_000));
  if (!call.finished || !output) return <p className="dim">No result yet.</p>;
  const json = parseJson(output.text);
  return (
    <>
      {call.finished.cause && (
        <dl className="facts">
          <Fact name="Cause" code>
            {call.finished.cause}
          </Fact>
        </dl>
      )}
      {json === undefined ? (
        <div className="pre wrap tall" tabIndex={0} aria-label="What the model saw">
          {output.text || <span className="c">(no output)</span>}
        </div>
      ) : (
        <JsonView value={json} />
      )}
      <div className="call-foot">
        <span className="num">
          {output.shortened
            ? `What the model saw: ${bytes(sizeInBytes(output.text))} of ${bytes(sizeOf(output))}, the start, the end and the shape`
            : `What the model saw, ${bytes(sizeOf(output))}`}
        </span>
        <span className="links">
          <CopyButton text={output.text} />
        </span>
      </div>
      {error && (
        <Banner tone="bad" icon="fail">
          <strong>The whole result cannot be read.</strong> {error}
        </Banner>
      )}
      {value && <Raw title={`The whole result, ${bytes(value.size)}`} text={value.text} />}
      {value?.next_offset != null && <p className="dim">The first {bytes(value.length)} are shown.</p>}
    </>
  );
}

function Raw({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h4 className="insp-sub">{title}</h4>
      <div className="pre wrap tall" tabIndex={0} aria-label={title}>
        {text}
      </div>
    </>
  );
}

function Fact({ name, code, children }: { name: string; code?: boolean; children: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{code ? <code>{children}</code> : children}</dd>
    </>
  );
}

function attempts(call: Call): string {
  if (call.attempts.length === 0) return "none: it was not sent";
  const times = call.attempts.map((attempt) =>
    attempt.until === null
      ? "running"
      : `${duration(attempt.until - attempt.from)}${attempt.interrupted ? ", cut off" : ""}`,
  );
  return `${call.attempts.length}: ${times.join("; ")}`;
}
