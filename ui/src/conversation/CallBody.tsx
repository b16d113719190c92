import { useState } from "react";

import { calls as callVerbs, results } from "../api";
import { Link, inspect, navigate, paths } from "../app/router";
import {
  CopyButton,
  Icon,
  LinkButton,
  Segments,
  bytes,
  duration,
  grouped,
  plural,
  sizeInBytes,
} from "../parts";
import { argumentsOf, isFailure, timesRepeated, type Call, type Look, type Turn } from "../state";
import { Progress } from "./CallProgress";
import { KeyValues } from "./KeyValues";
import { sizeOf } from "./media";
import { OutputView, ResultView } from "./ResultView";
import { useVerb } from "./useVerb";
import { REPEATED, shortenedStory, storyOf } from "./labels";

interface Props {
  call: Call;
  look: Look;
  turn: Turn;
  server: string;
  title: string;
}

type View = "result" | "arguments" | "raw";

/** The inside of a call: what happened, its result, arguments and raw text, and what can be done. */
export function CallBody({ call, look, turn, server, title }: Props) {
  const [view, setView] = useState<View>(look === "done" ? "result" : "arguments");
  const [withArguments, setWithArguments] = useState(false);
  const story = storyOf(call, look, server);
  const repeated = timesRepeated(turn, call) >= turn.limits.repeats;
  const failed = isFailure(look);
  const ended = call.finished !== null;
  return (
    <div className="call-body">
      {story && <p>{story}</p>}
      {repeated && <p>{REPEATED}</p>}
      <Decider call={call} />
      {call.spec.repairs?.map((repair) => (
        <p className="note" key={repair}>
          <Icon name="wrench" />
          <span>{repair}</span>
        </p>
      ))}
      {!ended && <Progress call={call} title={title} server={server} />}
      {look === "failed" && call.finished?.output.text && (
        <div className="pre wrap">{call.finished.output.text}</div>
      )}
      {!failed && <Views call={call} look={look} view={view} onView={setView} />}
      {failed && (look === "not_sent" || withArguments) && <KeyValues json={argumentsOf(call)} />}
      <Shortened call={call} />
      {ended && (
        <Foot
          call={call}
          look={look}
          turn={turn}
          {...(failed && look !== "not_sent" && { onArguments: () => setWithArguments(!withArguments) })}
        />
      )}
    </div>
  );
}

/** The permission that let it run or refused it, where one did. */
function Decider({ call }: { call: Call }) {
  const { verdict, rule = "", permission = "" } = call.judged ?? {};
  if (!permission || verdict === "ask") return null;
  return (
    <p className="note">
      <Icon name="shield" />
      <span>
        {verdict === "auto" ? "Ran without asking: " : "Refused: "}
        {rule}. <Link href={paths.permission(permission)}>Show in Permissions</Link>
      </span>
    </p>
  );
}

function Views({
  call,
  look,
  view,
  onView,
}: {
  call: Call;
  look: Look;
  view: View;
  onView: (view: View) => void;
}) {
  const hasResult = look === "done";
  return (
    <>
      <div className="call-views">
        <Segments
          kind="tabs"
          label="Show"
          value={view}
          onChange={onView}
          options={[
            ...(hasResult ? [{ value: "result" as const, label: "Result" }] : []),
            { value: "arguments", label: "Arguments" },
            { value: "raw", label: "Raw" },
          ]}
        />
        <span className="grow" />
        <code className="mono dim cut">{call.spec.name}</code>
      </div>
      {view === "result" && call.finished && <OutputView output={call.finished.output} />}
      {view === "arguments" && <KeyValues json={argumentsOf(call)} />}
      {view === "raw" && <Raw call={call} />}
    </>
  );
}

function Raw({ call }: { call: Call }) {
  const result = call.finished?.output.text;
  return (
    <>
      <div className="pre wrap" tabIndex={0} aria-label="Arguments as the model wrote them">
        {call.spec.raw || call.spec.arguments}
      </div>
      {result !== undefined && (
        <div className="pre wrap tall" tabIndex={0} aria-label="Result as text">
          {result || "(no output)"}
        </div>
      )}
    </>
  );
}

function Shortened({ call }: { call: Call }) {
  const [whole, setWhole] = useState<string | null>(null);
  const { run, busy, error } = useVerb();
  const output = call.finished?.output;
  if (!output?.shortened) return null;
  const open = () => run(async () => setWhole((await results.piece(output.result_id ?? "")).text));
  return (
    <>
      <p className="note">
        <Icon name="info" />
        <span>{shortenedStory(sizeInBytes(output.text), sizeOf(output))}</span>
      </p>
      {whole === null ? (
        <LinkButton onClick={open} disabled={busy}>
          Open in full
        </LinkButton>
      ) : (
        <ResultView text={whole} />
      )}
      {error && <p className="bad">{error}</p>}
    </>
  );
}

interface FootProps {
  call: Call;
  look: Look;
  turn: Turn;
  onArguments?: () => void;
}

function Foot({ call, look, turn, onArguments }: FootProps) {
  const { run, busy, error } = useVerb();
  const round = turn.rounds.find((one) => one.calls.includes(call))?.n ?? 0;
  const retryable =
    !["done", "denied", "left_unknown", "stopped_sent"].includes(look) && turn.finished !== null;
  return (
    <div className="call-foot">
      <span>{factsOf(call, isFailure(look))}</span>
      {error && <span className="bad">{error}</span>}
      <span className="links">
        {onArguments && <LinkButton onClick={onArguments}>Arguments</LinkButton>}
        <CopyButton text={call.finished?.output.text ?? ""} />
        {retryable && (
          <LinkButton
            icon="retry"
            disabled={busy}
            onClick={() => run(() => callVerbs.retry(call.turnId, call.id))}
          >
            Retry this call
          </LinkButton>
        )}
        {look === "timed_out" && (
          <LinkButton onClick={() => navigate(paths.servers)}>Change the limit</LinkButton>
        )}
        <LinkButton icon="spans" onClick={() => inspect(call.turnId, round)}>
          Inspect
        </LinkButton>
      </span>
    </div>
  );
}

const CHARACTERS_PER_TOKEN = 4;

function factsOf(call: Call, failed: boolean): string {
  const { output } = call.finished ?? {};
  const size = output ? sizeOf(output) : 0;
  const facts: string[] = [];
  if (call.attempts.length > 1)
    facts.push(
      `${call.attempts.length} attempts: ${call.attempts.map((one) => duration((one.until ?? one.from) - one.from)).join(", ")}`,
    );
  if (failed) return facts.join(", ");
  if (size > 0) facts.push(bytes(size));
  if (output && output.text.length > 0 && !output.shortened)
    facts.push(`about ${grouped(Math.ceil(output.text.length / CHARACTERS_PER_TOKEN))} tokens`);
  if (output?.sources?.length) facts.push(plural(output.sources.length, "link"));
  return facts.join(", ");
}
