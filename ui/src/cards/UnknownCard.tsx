import { calls as callVerbs } from "../api";
import { Button, clockTime } from "../parts";
import { argumentsOf, type Call } from "../state";
import { useOpen } from "../conversation/context";
import { KeyValues } from "../conversation/KeyValues";
import { nameCall } from "../conversation/toolbox";
import { useVerb } from "../conversation/useVerb";
import { AskCard } from "./AskCard";

const ANSWERS = [
  {
    as: "done",
    title: "It happened",
    means: "The model is told it went through, without a result.",
    verb: "Mark done",
  },
  { as: "retry", title: "It did not happen", means: "Sends the same arguments again.", verb: "Send again" },
  {
    as: "skip",
    title: "I cannot tell",
    means: "The model is told the outcome is unknown and goes on.",
    verb: "Skip",
  },
] as const;

/** A start was written, an end was not, and the call is not safe to repeat. No answer is the default. */
export function UnknownCard({ call, first }: { call: Call; first: boolean }) {
  const { naming } = useOpen();
  const { run, busy, error } = useVerb();
  const named = nameCall(naming, call);
  const { title, server } = named;
  const sent = call.attempts.at(-1);
  return (
    <AskCard
      callId={call.id}
      icon="unknown"
      question={`Did ${title} happen?`}
      named={named}
      aside={sent && `sent ${clockTime(sent.from, true)}`}
      first={first}
      error={error}
    >
      <p>
        Windlass stopped {sent ? after(sent.from, sent.until ?? sent.from) : "after this call was sent"}. No
        answer was recorded. The call is not safe to repeat, so it was not sent again.
      </p>
      <KeyValues json={argumentsOf(call)} />
      <p>
        Look in {server || "the server"} before you choose. The call’s own id is <code>{call.id}</code>.
      </p>
      <div className="choices">
        {ANSWERS.map(({ as, title: heading, means, verb }) => (
          <div className="choice" key={as}>
            <b>{heading}</b>
            <p>{means}</p>
            <Button disabled={busy} onClick={() => run(() => callVerbs.resolve(call.turnId, call.id, as))}>
              {verb}
            </Button>
          </div>
        ))}
      </div>
    </AskCard>
  );
}

const NUMBERS = [
  "less than a second",
  "one second",
  "two seconds",
  "three seconds",
  "four seconds",
  "five seconds",
];

/** The claim that found the call is written when Windlass is back, so this is the latest it can have stopped. */
function after(from: number, until: number): string {
  const seconds = Math.round((until - from) / 1000);
  const words = NUMBERS[seconds] ?? `some time before ${clockTime(until, true)}`;
  return seconds < NUMBERS.length
    ? `at ${clockTime(until, true)}, ${words} after this call was sent`
    : `${words}, after this call was sent`;
}
