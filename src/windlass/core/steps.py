"""What comes next in a turn, decided from its log alone: no clock, no I/O, defined at every moment."""

from collections.abc import Sequence
from dataclasses import replace

from windlass.core.events import Event, ToolFinished, TurnFinished
from windlass.core.fold import LIMIT_TEXTS, CallView, TurnView, fold, force, is_bare, worth_another
from windlass.core.messages import CallState, ToolCall, ToolOutput
from windlass.core.values import value_object


@value_object
class CallModel:
    attempt: int
    forced: str = ""
    wait_s: float = 0


@value_object
class RunTools:
    calls: tuple[ToolCall, ...]


@value_object
class Wait:
    calls: tuple[str, ...]


@value_object
class AwaitPerson:
    approvals: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@value_object
class Close:
    events: tuple[ToolFinished | TurnFinished, ...]


@value_object
class Done:
    finished: TurnFinished


Step = CallModel | RunTools | Wait | AwaitPerson | Close | Done


def next_step(log: Sequence[Event]) -> Step:
    return step_of(fold(log))


def step_of(view: TurnView) -> Step:
    if view.finished:
        return Done(view.finished)
    if end := _end(view):
        cancelled = tuple(_closed(call) for call in view.calls if call.open)
        return Close((*cancelled, end))
    return _work(view)


def _end(view: TurnView) -> TurnFinished | None:
    """The turn's end, if it is due. Order matters: a complete answer beats a later stop."""
    last = view.rounds[-1] if view.rounds else None
    if last and not last.calls and (last.forced or not last.reply.promised):
        kept = last.forced == "promises" and not last.reply.promised  # the answer that the others only announced
        cut = "" if kept else last.forced or ("length" if last.reply.finish == "length" else "")
        return TurnFinished("limit", cut, LIMIT_TEXTS[cut].ended) if cut else TurnFinished("answered")
    if view.stop:
        return _stopped(view.stop.by)
    if view.claims > view.started.settings.limits.claims:
        return TurnFinished(
            "failed",
            "crashed",
            "The server crashed each time it worked on this turn.",
            "Check the server's log, then continue the turn.",
        )
    if last and last.bare:
        return _unanswered(last.forced)
    if len(view.rounds) > 1 and view.started.settings.limits.rounds == 1:
        return TurnFinished("limit", "rounds", "Multi-round tool calls not supported")
    waiting = [call for call in last.calls if call.open] if last else []
    if last and not waiting and view.started.origin == "mcp":  # its caller asked for this one call
        return TurnFinished("answered")
    if waiting and all(call.handed_over for call in waiting):  # the server's own calls finish first
        return TurnFinished("handed_over")
    return None


def _unanswered(limit: str) -> TurnFinished:
    return TurnFinished("limit", limit, LIMIT_TEXTS[limit].unanswered, "Continue the turn, or ask another model.")


def _stopped(by: str) -> TurnFinished:
    if by == "deadline":
        return TurnFinished(
            "failed", "turn_timeout", "The turn reached its time limit.", "Continue it, or raise the limit."
        )
    if by == "defect":
        return TurnFinished("failed", "internal", "Internal error in Windlass.", "See the server's log for the cause.")
    return TurnFinished("stopped", "stopped", "Stopped.")


def _work(view: TurnView) -> Step:
    waiting = [call for call in view.calls if call.open and not call.handed_over]
    if not waiting:
        return _ask_model(view)
    if is_bare(view):  # the answer was asked for: nothing more runs
        return Close(tuple(_closed(call) for call in waiting))
    if settled := tuple(end for call in waiting if (end := _settled(call))):
        return Close(settled)
    if ready := tuple(as_decided(call) for call in waiting if _ready(call)):
        return RunTools(ready)
    if running := tuple(call.call.id for call in waiting if call.running):
        return Wait(running)
    return AwaitPerson(
        tuple(call.call.id for call in waiting if not call.interrupted),
        tuple(call.call.id for call in waiting if call.interrupted),
    )


def _ask_model(view: TurnView) -> Step:
    tries = view.failures[view.tries_from :]
    if tries and not worth_another(view):
        if is_bare(view):
            return Close((_unanswered(force(view)),))
        last = (*view.gave_up, tries[-1])
        messages = dict.fromkeys(failed.message for failed in last)
        return Close((TurnFinished("failed", last[0].cause, " ".join(messages), last[0].hint),))
    return CallModel(len(view.failures) + 1, force(view), tries[-1].wait_s if tries else 0)


def _ready(call: CallView) -> bool:
    if call.running or not call.allowed:
        return False
    return not call.interrupted or call.safe or call.resolved == "retry"


def as_decided(call: CallView) -> ToolCall:
    edited = call.decided.arguments if call.decided else ""
    return replace(call.call, arguments=edited, raw="", broken="", repairs=()) if edited else call.call


def _settled(call: CallView) -> ToolFinished | None:
    """The end of an open call that needs no tool to find it."""
    if call.stopped:
        return _closed(call)
    if call.running:
        return None
    if call.resolved == "done":
        return ToolFinished(call.call.id, "ok", ToolOutput("A person says that this call was carried out."), "person")
    if call.resolved == "skip":
        return ToolFinished(call.call.id, "unknown", ToolOutput(UNKNOWN), "person")
    if call.interrupted and call.harmless and not call.safe:
        return ToolFinished(call.call.id, "error", ToolOutput(INTERRUPTED), "interrupted")
    if call.judged and call.judged.verdict == "refuse":
        state: CallState = "denied" if call.judged.refusal == "policy" else "error"
        return ToolFinished(call.call.id, state, ToolOutput(call.judged.reason), call.judged.refusal)
    if call.decided and not call.decided.allow and not call.interrupted:
        why = f" They said: {call.decided.reason}" if call.decided.reason else ""
        return ToolFinished(call.call.id, "denied", ToolOutput(f"The person denied this call.{why}"), "person")
    return None


def _closed(call: CallView) -> ToolFinished:
    """How an open call ends when nothing more may happen to it."""
    if call.handed_over:
        return ToolFinished(call.call.id, "cancelled", ToolOutput("The caller runs this tool."), "handed_over")
    if call.sent and not call.harmless:
        return ToolFinished(call.call.id, "unknown", ToolOutput(UNKNOWN), "stopped")
    text = "This call was stopped before it gave a result." if call.sent else "This call was not run."
    return ToolFinished(call.call.id, "cancelled", ToolOutput(text), "stopped")


INTERRUPTED = (
    "Windlass was restarted while this call ran. It only reads, so it changed nothing; call it again if needed."
)
UNKNOWN = (
    "The outcome of this call is unknown: it was sent, but no answer was recorded. It may have had an effect or not. "
    "Do not assume either, and do not repeat it unless the person asks for that."
)
