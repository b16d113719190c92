import { memo, useState } from "react";

import { Link, paths } from "../app/router";
import {
  Badge,
  Icon,
  IconButton,
  PlacedBar,
  ProgressBar,
  Tag,
  counting,
  duration,
  useNow,
  waited,
} from "../parts";
import {
  argumentsOf,
  isFailure,
  lookOf,
  timesRepeated,
  tookMs,
  wasRepaired,
  type Call,
  type Look,
  type Turn,
} from "../state";
import { CallBody } from "./CallBody";
import { ProgressText } from "./CallProgress";
import { useOpen } from "./context";
import { CallThumb } from "./Figures";
import { stop } from "./stop";
import { nameCall } from "./toolbox";
import { LOOKS, argumentLine, decisionOf, sayOf } from "./labels";

interface Props {
  call: Call;
  turn: Turn;
  /** The clock its bar shares with its group; null for a call by itself. */
  span?: { from: number; until: number } | null;
  grouped?: boolean;
  open?: boolean;
}

const STOPPABLE = new Set<Look>(["queued", "running", "again", "asked"]);
const COUNTS = new Set<Look>(["running", "again", "stopping", "asked"]);

/** One call on one line; a click opens it in place. */
export const CallRow = memo(function CallRow({
  call,
  turn,
  span = null,
  grouped = false,
  open: openAtFirst,
}: Props) {
  const { store, naming } = useOpen();
  const look = lookOf(call);
  const [toggled, setToggled] = useState<boolean | null>(null);
  const open = toggled ?? openAtFirst ?? opensItself(look, call, turn);
  const { title, server } = nameCall(naming, call);
  const words = LOOKS[look];
  const classes = ["call", words.tone, !grouped && "alone", open && "open"].filter(Boolean).join(" ");
  return (
    <div className={classes} id={`call-${call.id}`} data-held={toggled === true ? "" : undefined}>
      <div className="call-head">
        <button type="button" className="call-toggle" aria-expanded={open} onClick={() => setToggled(!open)}>
          <span className="lead">
            <Icon name={words.icon} className="state" />
            <span className="title cut" title={call.spec.name}>
              {title}
            </span>
            {server && <Badge>{server}</Badge>}
          </span>
          <span className="rest">
            <StateText call={call} look={look} turn={turn} />
            {!open && COUNTS.has(look) && call.progress ? (
              <ProgressText progress={call.progress} title={title} />
            ) : (
              <Summary call={call} look={look} open={open} />
            )}
          </span>
        </button>
        <CallThumb call={call} />
        <GrantLink call={call} />
        {span && <Bars call={call} look={look} span={span} />}
        <Time call={call} look={look} />
        <EndSlot call={call} look={look} open={open} />
        {!open && COUNTS.has(look) && call.progress?.total && (
          <ProgressBar label={title} value={call.progress.progress} max={call.progress.total} />
        )}
      </div>
      {store.decidedElsewhere(call.id) && (
        <p className="note">
          <Icon name="info" />
          <span>Decided in another window: {decisionOf(call) || "denied"}.</span>
        </p>
      )}
      {open && <CallBody call={call} look={look} turn={turn} server={server} title={title} />}
    </div>
  );
});

function opensItself(look: Look, call: Call, turn: Turn): boolean {
  return isFailure(look) || look === "again" || timesRepeated(turn, call) >= turn.limits.repeats;
}

function StateText({ call, look, turn }: { call: Call; look: Look; turn: Turn }) {
  const say = sayOf(call, look);
  const times = timesRepeated(turn, call);
  const decision = call.decided?.permission ? "" : decisionOf(call);
  return (
    <>
      {say ? <span className="say">{say}</span> : <span className="vh">{LOOKS[look].spoken}</span>}
      {decision && look !== "denied" && <Tag icon="person">{decision}</Tag>}
      {wasRepaired(call) && <Tag icon="wrench">repaired</Tag>}
      {times >= turn.limits.repeats && <Tag icon="loop">{times} times</Tag>}
    </>
  );
}

/** What was allowed for longer stands in Permissions; it may be revoked there. */
function GrantLink({ call }: { call: Call }) {
  const { permission } = call.decided ?? {};
  if (!permission) return null;
  return (
    <Link
      className="tag"
      href={paths.permission(permission)}
      title="Show in Permissions"
      aria-label={decisionOf(call)}
    >
      <Icon name="person" />
      <span>{decisionOf(call)}</span>
    </Link>
  );
}

function Summary({ call, look, open }: { call: Call; look: Look; open: boolean }) {
  if (look === "denied" && call.decided?.reason)
    return <span className="args plain cut">“{call.decided.reason}”</span>;
  const line = argumentLine(argumentsOf(call));
  const reason = isFailure(look) && !open ? (call.finished?.output.text.trim().split("\n", 1)[0] ?? "") : "";
  return (
    <>
      {line && <span className={reason ? "args short cut" : "args cut"}>{line}</span>}
      {reason && <span className="args plain cut">{reason}</span>}
      {!line && !reason && <span className="grow" />}
    </>
  );
}

function Bars({ call, look, span }: { call: Call; look: Look; span: { from: number; until: number } }) {
  const whole = Math.max(1, span.until - span.from);
  const tone = isFailure(look) ? "bad" : COUNTS.has(look) ? "live" : undefined;
  return (
    <span className="gantt" aria-hidden="true">
      {call.attempts.map(({ from, until }) => (
        <PlacedBar
          key={from}
          className={tone}
          from={(from - span.from) / whole}
          size={((until ?? span.until) - from) / whole}
        />
      ))}
    </span>
  );
}

function Time({ call, look }: { call: Call; look: Look }) {
  const counts = COUNTS.has(look);
  const now = useNow(counts || look === "waiting");
  if (look === "waiting") return <span className="time">{waited(now - call.askedAt)}</span>;
  const ms = tookMs(call, now);
  if (ms === null) return null;
  return <span className="time">{counts ? counting(ms) : duration(ms)}</span>;
}

/** The chevron; while the call runs, its Stop button takes the place. */
function EndSlot({ call, look, open }: { call: Call; look: Look; open: boolean }) {
  const { store } = useOpen();
  if (!STOPPABLE.has(look)) return <Icon name={open ? "down" : "right"} className="chev" />;
  return (
    <IconButton
      className="stop"
      icon="stop"
      label="Stop this call"
      onClick={() => stop(store, call.turnId, call.id)}
    />
  );
}
