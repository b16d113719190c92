/** The approvals of one card: how far each has come, what was typed, and the decision on its way. */

import { useState, type ReactNode } from "react";

import { ApiError, calls as callVerbs, type Decision } from "../api";
import { Link, paths } from "../app/router";
import { useOpen } from "../conversation/context";
import type { Named } from "../conversation/toolbox";
import { useVerb } from "../conversation/useVerb";
import type { Call } from "../state";
import { changesIn } from "./changes";
import type { Drafts, Step } from "./steps";

export interface Progress {
  step: Step;
  drafts: Drafts;
  explained: boolean;
  /** Whether its decision was taken by the server; the event that says so may still be on its way. */
  sent: boolean;
}

export interface Approvals {
  of: (call: Call) => Progress;
  change: (call: Call, more: Partial<Progress>) => void;
  keep: (call: Call, drafts: Drafts) => void;
  decide: (call: Call, named: Named, decision: Decision) => Promise<boolean>;
  /** The same decision on several, one after the other. One decided elsewhere is passed over; a failure ends it. */
  decideAll: (calls: readonly [Call, Named][], decision: Decision) => Promise<boolean>;
  busy: boolean;
  errorOf: (call: Call) => ReactNode;
}

const NEW: Progress = { step: "ask", drafts: {}, explained: false, sent: false };

export function useApprovals(): Approvals {
  const { store } = useOpen();
  const [progress, setProgress] = useState<Readonly<Record<string, Progress>>>({});
  const [about, setAbout] = useState("");
  const { run, busy, error, code } = useVerb();
  const of = (call: Call) => progress[call.id] ?? NEW;
  const change = (call: Call, more: Partial<Progress>) =>
    setProgress((before) => ({ ...before, [call.id]: { ...(before[call.id] ?? NEW), ...more } }));
  const send = async (call: Call, named: Named, decision: Decision) => {
    setAbout(call.id);
    store.own(call.id);
    await callVerbs.decide(call.turnId, call.id, decisionOn(call, named, of(call).drafts, decision));
  };
  const done = (call: Call) => change(call, { sent: true });
  return {
    of,
    change,
    keep: (call, drafts) => change(call, { drafts: keptWith(of(call).drafts, drafts) }),
    decide: (call, named, decision) => run(() => send(call, named, decision).then(() => done(call))),
    decideAll: (calls, decision) =>
      run(async () => {
        const open = calls.filter(([call]) => !of(call).sent);
        for (const [call, named] of open) {
          await send(call, named, decision).catch(unlessDecided);
          done(call);
        }
      }),
    busy,
    errorOf: (call) => (about !== call.id ? "" : code === "tool_changed" ? <ChangedTool /> : error),
  };
}

/** Another window, or the end of its turn, was first: nothing waits there for this decision any more. */
function unlessDecided(problem: unknown): void {
  const decided = problem instanceof ApiError && problem.status === 409 && problem.code === "not_waiting";
  if (!decided) throw problem;
}

/** A grant is filled in for the arguments as they are then: once those are edited, it begins anew. */
function keptWith(before: Drafts, more: Drafts): Drafts {
  return { ...before, ...("edit" in more && { grant: undefined }), ...more };
}

/** The decision with the definition that was seen, and with the arguments that the person changed. */
function decisionOn(call: Call, named: Named, drafts: Drafts, decision: Decision): Decision {
  const hash = call.judged?.tool_hash;
  const { names, now } = changesIn(call, named, drafts.edit);
  const changed = decision.decision === "allow" && names.length > 0 && now;
  return { ...decision, ...(hash && { hash }), ...(changed && { arguments: changed }) };
}

function ChangedTool() {
  return (
    <>
      The tool changed while this waited. Look at the change before you decide.{" "}
      <Link href={paths.servers}>Look at the change</Link>
    </>
  );
}
