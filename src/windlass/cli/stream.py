"""One turn from its first event to its end, at a terminal: told, approved, stopped. The exit code says how it went."""

from collections.abc import AsyncIterator

from windlass.api import schemas
from windlass.cli.approvals import Mode, answer_pending
from windlass.cli.options import ANSWERED, FAILED, LIMIT, STOPPED
from windlass.cli.output import Teller
from windlass.cli.session import Connected
from windlass.cli.tables import note
from windlass.client import TurnEvent
from windlass.core.events import CallJudged
from windlass.core.ports import InputNeeded

WAYS = {
    "approval": "approve {turn} {call}",
    "unknown": "resolve {turn} retry|done|skip {call}",
    "input": "answer {turn} JSON {call}",
}


def follow(session: Connected, events: AsyncIterator[TurnEvent], teller: Teller, mode: Mode) -> schemas.Turn:
    """Ctrl-C stops the turn and goes on telling; a second one leaves."""
    feed = session.feed(events)
    turn_id, stopping = "", False
    asked: set[str] = set()
    try:
        while True:
            try:
                event = feed.next()
                if event is None:
                    break
                turn_id = event.turn_id
                teller.tell(event)
                if _needs_person(event) and not _ask(session, turn_id, teller, mode, asked):
                    break
            except (KeyboardInterrupt, EOFError):
                if stopping or not turn_id:
                    raise KeyboardInterrupt from None
                stopping = True
                teller.pause()
                note("Stopping. Ctrl-C again leaves.")
                session.run(session.w.turns.stop(turn_id))
    finally:
        feed.close()
        teller.close()
    return session.run(session.w.turns.get(turn_id))


def exit_code(turn: schemas.Turn) -> int:
    if turn.state != "finished" or turn.outcome == "stopped" or any(call.state == "denied" for call in turn.calls):
        return STOPPED
    return {"answered": ANSWERED, "limit": LIMIT}.get(turn.outcome or "", FAILED)


def tell_end(turn: schemas.Turn) -> None:
    """What a person should know beyond the answer: sources, and why there is none."""
    for source in turn.sources:
        note(f"[{source.n}] {source.title}  {source.url}")
    for call in turn.pending_calls if turn.state != "finished" else ():
        verb = WAYS[call.kind].format(turn=turn.id, call=call.call_id)
        note(f"{call.name} waits for a person: windlass turns {verb}", "yellow")
    if turn.outcome == "stopped":
        note("Stopped.", "yellow")
    if turn.error:
        note(turn.error.message, "red")
        if isinstance(turn.error.hint, str):
            note(turn.error.hint)


def _needs_person(event: TurnEvent) -> bool:
    judged = event.what
    return isinstance(judged, InputNeeded) or (isinstance(judged, CallJudged) and judged.verdict == "ask")


def _ask(session: Connected, turn_id: str, teller: Teller, mode: Mode, asked: set[str]) -> bool:
    teller.pause()
    return answer_pending(session, session.run(session.w.turns.get(turn_id)), mode, asked)
