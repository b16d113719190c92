"""One turn from its first event to its end, at a terminal: text as it streams, calls with spinners and progress, the
person's decisions, Ctrl-C. The answer goes to stdout and all else to stderr, so that a pipe gets the answer alone."""

import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import assert_never

from rich.console import Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from windlass.api import schemas
from windlass.api.events import TurnEvent
from windlass.api.schemas.turns import COMPLETED
from windlass.cli.approvals import Mode, answer_pending
from windlass.cli.options import ANSWERED, FAILED, LIMIT, STOPPED
from windlass.cli.output import clean, err, line, note, shown_arguments
from windlass.cli.session import Connected
from windlass.cli.waiting import WaitingStatus, failed_line, waiting_line
from windlass.core.events import (
    CallDecided,
    CallJudged,
    CallResolved,
    HistoryTrimmed,
    ModelFailed,
    ModelReplied,
    Settings,
    StopRequested,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnFinished,
    TurnStarted,
)
from windlass.core.fold import FAILS_ANYWHERE
from windlass.core.ports import (
    CallDelta,
    InputNeeded,
    MessagesDeleted,
    ReasoningDelta,
    ReplyReset,
    ReplySoFar,
    ResultAdded,
    TextDelta,
    ToolProgress,
    Waiting,
)

MARKS = {"ok": ("✓", "green"), "error": ("✗", "red"), "denied": ("⊘", "yellow"), "cancelled": ("-", "dim")}
NEXT_STEPS = {
    "approval": "needs your approval: windlass turns approve {turn} {call}",
    "unknown": "has an unknown outcome: windlass turns resolve {turn} retry|done|skip {call}",
    "input": "asks for input: windlass turns answer {turn} JSON {call}",
    "sign_in": "waits, nothing is lost: windlass servers login {server}",
}


def follow(session: Connected, events: AsyncIterator[TurnEvent], printer: "TurnPrinter", mode: Mode) -> schemas.Turn:
    """The first Ctrl-C stops the turn and shows how it ends; a second one leaves."""
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
                printer.show(event)
                if _needs_person(event) and not _ask(session, turn_id, printer, mode, asked):
                    break
            except (KeyboardInterrupt, EOFError):
                if stopping or not turn_id:
                    raise KeyboardInterrupt from None
                stopping = True
                printer.pause()
                note("Stopping. Ctrl-C again leaves.")
                session.run(session.w.turns.stop(turn_id))
    finally:
        feed.close()
        printer.close()
    return session.run(session.w.turns.get(turn_id))


def exit_code(turn: schemas.Turn) -> int:
    if turn.state != "finished" or turn.outcome == "stopped" or any(call.state == "denied" for call in turn.calls):
        return STOPPED
    return {"answered": ANSWERED, "limit": LIMIT}.get(turn.outcome or "", FAILED)


def report_end(turn: schemas.Turn) -> None:
    """What follows the answer: its sources, calls that wait for a decision, or the reason there is no answer."""
    for source in turn.sources:
        note(f"[{source.n}] {line(source.title)}  {line(source.url, 2000)}")
    for call in turn.pending_calls if turn.state != "finished" else ():
        step = NEXT_STEPS[call.kind].format(turn=turn.id, call=call.call_id, server=call.server_slug)
        note(f"{line(call.name)} {step}", "yellow")
    for absent in turn.unavailable:
        note(missing_line(absent), "yellow")
    if turn.outcome == "stopped":
        note("Stopped.", "yellow")
    if turn.outcome == "answered" and turn.message != COMPLETED:
        note(line(turn.message, 400), "yellow")
    if turn.error:
        note(turn.error.message, "red")
        if isinstance(turn.error.hint, str):
            note(turn.error.hint)


def missing_line(absent: schemas.UnavailableServer) -> str:
    """Whose tools the model was not offered, and what brings them back."""
    server, reason = line(absent.server_slug), absent.reason if isinstance(absent.reason, str) else ""
    if absent.status == "needs_sign_in":
        return f"The tools of {server} are missing: sign in with `windlass servers login {server}`."
    return f"The tools of {server} are missing: it is {absent.status}. {line(reason)}".rstrip()


def _needs_person(event: TurnEvent) -> bool:
    match event.what:
        case InputNeeded() | CallJudged(verdict="ask") | Waiting(for_="sign_in"):
            return True
        case _:
            return False


def _ask(session: Connected, turn_id: str, printer: "TurnPrinter", mode: Mode, asked: set[str]) -> bool:
    printer.pause()
    return answer_pending(session, session.run(session.w.turns.get(turn_id)), mode, asked)


class TurnPrinter:
    def __init__(self, *, stream: bool, quiet: bool = False) -> None:
        self.streams = stream and sys.stdout.isatty()
        self._quiet = quiet
        self._names: dict[str, str] = {}
        self._running: dict[str, RunningCall] = {}
        self._live: Live | None = None
        self._in_line = False
        self._shown = ""
        self._settings = Settings()
        self._failures = self._gave_up = 0
        self._waiting: Waiting | None = None

    def show(self, event: TurnEvent) -> None:  # noqa: C901 - one case for each kind of event
        if not isinstance(event.what, Waiting):
            self._waited()
        match event.what:
            case Waiting():
                self._wait(event.what)
            case TurnStarted(settings=settings):
                self._settings = settings
            case TextDelta(text=text):
                self._write(text)
            case ReplySoFar(text=text):
                self._write(text)
            case ReplyReset():
                self._break_line()
                self._shown = ""
            case ModelReplied():
                self._replied(event.what)
            case ModelFailed():
                self._failed(event.what)
            case ToolStarted(call_id=call_id):
                self._begin(call_id)
            case ToolProgress():
                self._progress(event.what)
            case ToolFinished():
                self._end(event.what)
            case HistoryTrimmed(reason=reason):
                self._note(reason)
            case TurnFinished():
                self.close()
            case (
                TurnClaimed()
                | CallJudged()
                | CallDecided()
                | CallResolved()
                | StopRequested()
                | CallDelta()
                | ReasoningDelta()
                | InputNeeded()
                | MessagesDeleted()
                | ResultAdded()
            ):
                pass
            case other:
                assert_never(other)

    def pause(self) -> None:
        """Stop drawing, so that a question can be asked on the terminal."""
        if self._live:
            self._live.stop()
            self._live = None
        self._break_line()

    def close(self) -> None:
        self.pause()
        self._running.clear()

    def _write(self, text: str) -> None:
        if not self.streams or not text:
            return
        self._shown += text
        self.pause() if self._live else None
        sys.stdout.write(clean(text))
        sys.stdout.flush()
        self._in_line = not text.endswith("\n")

    def _replied(self, reply: ModelReplied) -> None:
        self._write(reply.text[len(self._shown) :] if reply.text.startswith(self._shown) else "")
        self._shown, self._failures = "", 0
        self._break_line()
        self._names.update(
            {call.id: f"{line(call.name)} {shown_arguments(call.arguments)}".strip() for call in reply.calls}
        )
        if not reply.calls and reply.provider not in ("", self._settings.provider):
            self._note(f"Answered by {line(reply.provider)}/{line(reply.model)}.")

    def _failed(self, failed: ModelFailed) -> None:
        """Another attempt is announced, or a fallback; what ends the turn is told with its end."""
        self._failures += 1
        attempts = self._settings.limits.attempts
        if failed.retryable and self._failures < attempts:
            self._note(failed_line(failed.message, failed.wait_s, self._failures, attempts - 1))
        elif self._gave_up < len(self._settings.fallback) and failed.cause not in FAILS_ANYWHERE:
            provider, model = self._settings.fallback[self._gave_up]
            self._gave_up, self._failures = self._gave_up + 1, 0
            self._note(f"{line(failed.message)} Asking {line(provider)}/{line(model)} instead.")

    def _wait(self, waiting: Waiting) -> None:
        """At a terminal a line that moves; elsewhere each thing that is waited for once. A decision is asked for, and a
        retry was announced by the attempt before it."""
        before, self._waiting = self._waiting, waiting
        if self._quiet or waiting.for_ == "person":
            return
        if err.is_terminal:
            self._break_line()
            self._redraw()
        elif waiting.for_ != (before.for_ if before else "") and not waiting.attempt:
            self._note(waiting_line(waiting, self._names.get(waiting.call_id, "")))

    def _waited(self) -> None:
        """What happens now ends the wait."""
        waiting, self._waiting = self._waiting, None
        if waiting and self._live:
            self._live.stop()
            self._live = None
            self._redraw()

    def _begin(self, call_id: str) -> None:
        if self._quiet:
            return
        self._break_line()
        name = self._names.get(call_id, call_id)
        self._running[call_id] = RunningCall(name)
        if err.is_terminal:
            self._redraw()
        else:
            note(f"→ {name}")

    def _progress(self, event: ToolProgress) -> None:
        if running := self._running.get(event.call_id):
            total = f"/{event.total:g}" if event.total else ""
            running.progress = f"{event.progress:g}{total} {line(event.message, 60)}".strip()
            self._redraw()

    def _end(self, finished: ToolFinished) -> None:
        if self._quiet:
            return
        self._running.pop(finished.call_id, None)
        if self._live and not self._running:
            self._live.stop()
            self._live = None
        mark, style = MARKS.get(finished.state, ("?", "yellow"))
        why = "" if finished.state == "ok" else f"  {finished.state}: {line(finished.output.text)}"
        took = f"  {finished.took_ms} ms" if finished.took_ms else ""
        self._break_line()
        err.print(
            Text(f"{mark} ", style=style), Text(clean(self._names.get(finished.call_id, "")) + took + why), sep=""
        )
        self._redraw()

    def _redraw(self) -> None:
        waiting = self._waiting if self._waiting and self._waiting.call_id not in self._running else None
        if not (self._running or waiting) or not err.is_terminal:
            return
        status = [WaitingStatus(waiting, self._names.get(waiting.call_id, ""))] if waiting else []
        shown = Group(*self._running.values(), *status)
        if self._live is None:
            self._live = Live(shown, console=err, transient=True, refresh_per_second=10, redirect_stdout=False)
            self._live.start()
        else:
            self._live.update(shown)

    def _note(self, text: str) -> None:
        if not self._quiet:
            self._break_line()
            note(text)

    def _break_line(self) -> None:
        if self._in_line:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._in_line = False


@dataclass(slots=True)
class RunningCall:
    name: str
    began: float = field(default_factory=time.monotonic)
    progress: str = ""

    def __rich__(self) -> Spinner:
        seconds = time.monotonic() - self.began
        tail = f"  {self.progress}" if self.progress else ""
        return Spinner("dots", Text(f"{line(self.name)}{tail}  {seconds:.1f} s"))
