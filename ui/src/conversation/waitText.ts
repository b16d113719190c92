/** Why nothing moves, in words: always who is waited for, since when, and what comes next. */

import { plural } from "../parts";
import type { Waiting } from "../state";

/** What a wait says of itself, in a chat as well as in the list of chats. */
export type Wait = Omit<Waiting, "type" | "turn_id" | "at">;

export interface WaitNames {
  /** The tool as a person knows it. */
  tool: string;
  /** How many calls wait for the same server. */
  calls: number;
}

/** `lead before count after where`, where only `count` changes as time goes by. */
export interface WaitText {
  lead: string;
  before: string;
  count: string;
  after: string;
  where: string;
  /** It takes more than twice as long as usual. */
  slow: boolean;
}

const NOTHING: WaitText = { lead: "", before: "", count: "", after: "", where: "", slow: false };
const WORTH_SAYING_MS = 20_000; // a shorter limit is the pause before the next attempt

export function waitText(wait: Wait, now: number, names: WaitNames): WaitText {
  const ms = now - Date.parse(wait.since);
  const lasted = seconds(ms);
  const limit = wait.until ? Date.parse(wait.until) - Date.parse(wait.since) : 0;
  switch (wait.for) {
    case "slot":
      return { ...NOTHING, lead: slotLead(wait), before: aheadText(wait), count: lasted, after: " so far." };
    case "rate_limit":
      return { ...NOTHING, lead: `${hostOf(wait)} is limiting requests.`, ...retryText(wait, now) };
    case "first_token": {
      const usual = wait.usual_s ? ` Usually ${usually(wait.usual_s)}.` : "";
      const end = limit > WORTH_SAYING_MS ? `; giving up at ${minutes(limit)}` : "";
      const slow = wait.usual_s !== undefined && ms > 2000 * wait.usual_s;
      const where = wait.host && `${wait.host}${end}.`;
      return {
        ...NOTHING,
        lead: `Waiting for ${modelOf(wait)},`,
        count: lasted,
        after: `.${usual}`,
        where: where ?? "",
        slow,
      };
    }
    case "silence": {
      const after = `. Connection is open; giving up at ${minutes(limit)}.`;
      return { ...NOTHING, lead: "No text for", count: lasted, after, where: `${atHost(wait)}.` };
    }
    case "server": {
      const calls = `. ${plural(names.calls, "call")} ${names.calls === 1 ? "is" : "are"} waiting for it.`;
      const where = limit ? `Gives up at ${seconds(limit)}.` : "";
      return {
        ...NOTHING,
        lead: `Starting ${wait.server ?? "a server"},`,
        count: lasted,
        after: calls,
        where,
      };
    }
    case "tool": {
      const after = limit ? `. Gives up at ${seconds(limit)}.` : ".";
      return {
        ...NOTHING,
        lead: `No progress from ${toolOf(wait, names)} for`,
        count: lasted,
        after,
        where: onServer(wait, names),
      };
    }
    case "sign_in":
      return { ...NOTHING, lead: signIn(wait), after: "Calls are waiting, nothing is lost." };
    case "person":
      return { ...NOTHING, lead: "Waiting for your decision,", count: lasted, after: "." };
    case "budget":
      return { ...NOTHING, lead: "Stopped at your budget." };
  }
}

/** For those who hear it, once: without anything that counts. */
export function spokenWait(wait: Wait, names: WaitNames): string {
  switch (wait.for) {
    case "slot":
      return slotLead(wait);
    case "rate_limit":
      return `${hostOf(wait)} is limiting requests.${wait.attempt ? ` Retrying, ${wait.attempt} of ${wait.attempts}.` : ""}`;
    case "first_token":
      return `Waiting for ${atHost(wait)}.`;
    case "silence":
      return `No text from ${atHost(wait)}. Connection is open.`;
    case "server":
      return `Starting ${wait.server ?? "a server"}.`;
    case "tool":
      return `No progress from ${toolOf(wait, names)}.`;
    case "sign_in":
      return signIn(wait);
    case "person":
      return "Waiting for your decision.";
    case "budget":
      return "Stopped at your budget.";
  }
}

function slotLead({ host }: Wait): string {
  return host ? `Waiting for a free slot at ${host}.` : "Waiting for a free slot.";
}

function aheadText({ ahead }: Wait): string {
  if (ahead === undefined) return "";
  return ahead > 0 ? `${plural(ahead, "turn")} ahead, ` : "Next in line, ";
}

/** Without an attempt of its own, the turn waits together with one that was refused. */
function retryText({ attempt, attempts, ahead, until }: Wait, now: number): Partial<WaitText> {
  const left = until ? seconds(Date.parse(until) - now) : "";
  const verb = attempt ? "Retrying" : "Asking";
  const turns = ahead ? ` ${plural(ahead, "turn")} ahead.` : "";
  const place = attempt ? ` (${attempt} of ${attempts}).${turns}` : turns ? `.${turns}` : ". Next in line.";
  return left ? { before: `${verb} in `, count: left, after: place } : { before: verb, after: place };
}

function hostOf({ host, model }: Wait): string {
  return host || model || "The provider";
}

function modelOf({ host, model }: Wait): string {
  return model || host || "the model";
}

function atHost({ host, model }: Wait): string {
  return host && model ? `${model} at ${host}` : model || host || "the model";
}

function toolOf({ server }: Wait, { tool }: WaitNames): string {
  return tool || server || "a tool";
}

function onServer({ server }: Wait, { tool }: WaitNames): string {
  return server && server !== tool ? `On ${server}.` : "";
}

function signIn({ server }: Wait): string {
  return `${server ?? "A server"} needs you to sign in.`;
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1000))}\u00a0s`;
}

function usually(s: number): string {
  return `${s < 10 ? Math.round(s * 10) / 10 : Math.round(s)}\u00a0s`;
}

function minutes(ms: number): string {
  const whole = Math.round(ms / 1000);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
