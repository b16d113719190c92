"""The loop. It reads the log, does the next step, records what happened, and reads again; so starting, resuming,
approving and stopping are one path."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from windlass.core.errors import Fenced, ModelError, ToolError
from windlass.core.events import (
    CallJudged,
    Event,
    HistoryTrimmed,
    ModelFailed,
    ModelReplied,
    StopRequested,
    ToolFinished,
    ToolStarted,
)
from windlass.core.faults import reach
from windlass.core.fold import Folding, TurnView
from windlass.core.ids import call_id
from windlass.core.messages import PastTurn, ToolCall, ToolOutput
from windlass.core.ports import Emit, History, Log, Model, ModelRequest, Reply, ReplyReset, Tools, Waiting
from windlass.core.prompt import history_digest, numbered_sources, prompt_of, why_moved
from windlass.core.steps import UNKNOWN, AwaitPerson, CallModel, Close, Done, RunTools, Step, Wait, step_of

SEARCH_TOOL = "web_search"
HELD_BACK = frozenset({"rate_limited", "overloaded"})  # causes by which the provider asks for a pause
OVER_LIMIT = "This turn's limit of calls is reached."


@dataclass(slots=True)
class TurnRun:
    """What one driver works with, and the tasks it has under way."""

    log: Log
    model: Model
    tools: Tools
    history: History
    emit: Emit
    group: asyncio.TaskGroup
    folding: Folding
    asking: asyncio.Task[None] | None = None
    facts: tuple[Event, ...] = ()  # of the model's reply, not recorded yet
    running: dict[str, asyncio.Task[None]] = field(default_factory=dict)


async def run_turn(log: Log, model: Model, tools: Tools, history: History, emit: Emit) -> AwaitPerson | Done:
    """Drive a turn until it finishes or must wait for a person. Safe to call again at any time."""
    folding = Folding()
    view = folding.upto(await log.read())
    step = step_of(view)
    if isinstance(step, AwaitPerson | Done):
        return step
    await log.claim()
    reach("turn_claimed")
    try:
        async with asyncio.TaskGroup() as group:
            limit_s = view.started.settings.limits.work_s
            call_off = tools.alarm(limit_s, lambda: group.create_task(_record(log, StopRequested("deadline"))))
            try:
                step = await _drive(TurnRun(log, model, tools, history, emit, group, folding))
            finally:
                call_off()
    except* Fenced as fenced:
        raise fenced.exceptions[0] from None
    return step


async def _drive(run: TurnRun) -> AwaitPerson | Done:
    """A reply is written in one commit with what it sets off. If the log grew meanwhile, the reply is written alone."""
    while True:
        seen = await run.log.read()
        facts, run.facts = run.facts, ()
        view = run.folding.upto((*seen, *facts))
        step = step_of(view)
        _cancel_unneeded(run, view, step)
        match step:
            case RunTools(calls):
                reach("calls_ready")
                starts = [ToolStarted(call.id, view.by_call[call.id].safe) for call in calls]
                if await run.log.begin(len(seen), *starts, facts=facts):
                    reach("calls_begun")
                    for call in calls:
                        harmless = view.by_call[call.id].harmless
                        run.running[call.id] = run.group.create_task(_run(run, call, harmless))
                    await run.log.changed(len(seen) + len(facts) + len(starts))  # all of them landed, or none
            case Close(events):
                await run.log.begin(len(seen), *events, facts=facts)
            case _ if facts:
                await run.log.record(*facts)
            case CallModel() | Wait():
                if isinstance(step, CallModel) and (run.asking is None or run.asking.done()):
                    run.asking = run.group.create_task(_ask(run, seen, view, step))
                await run.log.changed(len(seen), run.asking)
            case _:
                return step


def _cancel_unneeded(run: TurnRun, view: TurnView, step: Step) -> None:
    """Cancel work whose result nobody waits for any more: a stopped call, a model asked before the turn was closed."""
    for ended in [id for id in run.running if not view.by_call[id].open]:
        run.running.pop(ended).cancel()
    if run.asking and not isinstance(step, CallModel):
        run.asking.cancel()
        run.asking = None


async def _record(log: Log, fact: Event) -> None:
    await log.record(fact)


async def _ask(run: TurnRun, seen: Sequence[Event], view: TurnView, step: CallModel) -> None:
    """The view grows while the model is asked, but not by rounds or calls: those come from here."""
    tries = tuple(view.failures[view.tries_from :])
    if step.attempt > 1:
        if tries:
            run.emit(_pause(view, tries, step.wait_s))
        await asyncio.sleep(step.wait_s)
        run.emit(ReplyReset(step.attempt))
    began = time.monotonic()
    reach("model_asked")
    try:
        past = await run.history.before(run.log.turn_id, view.history_from)
        prompt = prompt_of(view, past, step.forced, run.history.fence)
        cited = tuple(source.url for source, _ in numbered_sources(view))
        listed = run.tools.listed(view)
        request = ModelRequest(run.log.turn_id, view.asked, prompt, listed, step.attempt, tries, cited)
        reply = await run.tools.completed(view, run.model.reply(request, run.emit), step.forced)
        replied = _as_event(request, view, reply, past, _ms(began))
    except ModelError as error:
        run.facts = await _failure(run, seen, error, _ms(began))
        return
    reach("reply_complete")
    run.facts = (replied, *_judged(run, seen, view, replied))


def _pause(view: TurnView, tries: Sequence[ModelFailed], wait_s: float) -> Waiting:
    failed, retries, now = tries[-1], view.started.settings.limits.attempts - 1, time.time()
    why: Literal["rate_limit", "first_token"] = "rate_limit" if failed.cause in HELD_BACK else "first_token"
    return Waiting(why, now, now + wait_s, failed.host, failed.model, attempt=len(tries), attempts=retries)


async def _failure(run: TurnRun, seen: Sequence[Event], error: ModelError, took_ms: int) -> tuple[Event, ...]:
    spent = round(error.first_byte_s * 1000), round(error.silence_s * 1000)
    known = error.code, error.message, error.hint, error.retryable, error.wait_s, error.partial, error.status
    failed = ModelFailed(*known, took_ms, error.host, error.model, *spent)
    if error.code != "context_overflow":
        return (failed,)
    later = await run.history.shorten(run.log.turn_id, seen)
    if later is None:
        return (replace(failed, retryable=False),)
    return (failed, HistoryTrimmed(later, "The model's context was too small for the whole history."))


def _as_event(sent: ModelRequest, view: TurnView, reply: Reply, past: Sequence[PastTurn], took_ms: int) -> ModelReplied:
    number = len(view.rounds) + 1
    if not reply.text and not reply.calls:
        empty, hint = f"{reply.model or 'The model'} returned empty content.", "Ask again, or try another model."
        raise ModelError("empty_reply", empty, hint=hint, retryable=True)
    calls = tuple(
        ToolCall(call_id(sent.turn_id, number, n), d.name, d.arguments, d.wire_id, d.raw, d.broken, d.repairs, d.extra)
        for n, d in enumerate(reply.calls)
    )
    return ModelReplied(
        reply.text,
        calls,
        reply.reasoning,
        reply.usage,
        reply.finish,
        reply.model,
        reply.repairs,
        reply.raw,
        reply.sources,
        reply.first_ms,
        took_ms,
        promised=reply.promised,
        extra=reply.extra,
        provider=view.asked.provider,
        history=history_digest(past),
        listed="" if sent.tools.hash == view.asked.toolset else sent.tools.hash,
        moved=why_moved(view, past, sent.tools.hash, reply.media),
        media=reply.media,
    )


def _judged(run: TurnRun, seen: Sequence[Event], view: TurnView, replied: ModelReplied) -> list[CallJudged]:
    room = max(0, view.started.settings.limits.calls - len(view.by_call))
    judged = [run.tools.judge(call, seen) for call in replied.calls[:room]]
    too_many = replied.calls[room:]
    return judged + [CallJudged(c.id, "refuse", "limit", refusal="over_limit", reason=OVER_LIMIT) for c in too_many]


async def _run(run: TurnRun, call: ToolCall, harmless: bool) -> None:
    """Run one call and record how it ended. A cancelled call records nothing: either its end is in the log already, or
    the driver is going down and the next one finds the call interrupted."""
    began = time.monotonic()
    try:
        output = await run.tools.run(call, run.emit)
        fact = ToolFinished(call.id, "error" if output.failed else "ok", output, took_ms=_ms(began))
    except ToolError as error:
        lost = error.sent and not harmless
        text = f"{error.message} {UNKNOWN}" if lost else error.message
        output = ToolOutput(text, untrusted=error.untrusted)
        fact = ToolFinished(call.id, "unknown" if lost else "error", output, error.code, _ms(began))
    except Exception as error:  # a tool may fail in any way; the model gets the error, the turn continues
        fact = ToolFinished(call.id, "error", ToolOutput(f"{type(error).__name__}: {error}"), "tool_error", _ms(began))
    reach("result_received")
    run.running.pop(call.id, None)  # from here on there is nothing left to cancel
    await run.log.record(fact)
    reach("result_recorded")


def _ms(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
