"""Fan-out to watchers. It never blocks and never holds the truth: a watcher that falls behind, or comes back,
is brought up to date from the log, so every one of them sees each event once and in order."""

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from windlass.bus.changes import Changes, ConversationChanged, Show
from windlass.bus.waits import Waits
from windlass.core.events import (
    CallDecided,
    CallJudged,
    CallResolved,
    Committed,
    ModelFailed,
    ModelReplied,
    Recorded,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnFinished,
    TurnStarted,
)
from windlass.core.ports import (
    CallDelta,
    InputNeeded,
    LiveEvent,
    MessagesDeleted,
    ReasoningDelta,
    ReplyReset,
    ReplySoFar,
    ResultAdded,
    TextDelta,
    ToolProgress,
    Waiting,
)

MOST_QUEUED = 1000
MOST_BYTES = 128 * 1024  # of one watcher's queue
MOST_CHANGED = 1000  # conversations that one watcher was not told of yet
RIDE_S = 0.03  # what no reader waits for may wait so long for company: each write to a reader costs as much as a step

T = TypeVar("T")
Replay = Callable[[str, int], list[Committed]]


_PATIENT = frozenset({CallDelta, ToolProgress})
# These change a row of the list of conversations.
_LISTED = (TurnStarted, TurnClaimed, CallJudged, CallDecided, CallResolved, TurnFinished)
_HEAD_BYTES = 100  # of an event on the wire: its name, its turn, its number


@dataclass(slots=True)
class Frame:
    """One event for watchers: a row of the log, or a transient event. The first to send it fills `encoded`, so that it
    is encoded once for all watchers."""

    conversation_id: str
    turn_id: str
    parent_id: str | None
    what: Recorded | LiveEvent | ReplySoFar | MessagesDeleted | ResultAdded | ConversationChanged
    encoded: bytes | None = None


@dataclass(slots=True)
class _Partial:
    conversation_id: str
    attempt: int = 1
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: dict[int, tuple[str, list[str]]] = field(default_factory=dict)
    inputs: dict[str, InputNeeded] = field(default_factory=dict)


class Bus:
    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._watchers: dict[str, set[Watcher]] = {}
        self._listeners: dict[type, list[Callable[[str, Any], None]]] = {}
        self._partial: dict[str, _Partial] = {}
        self._progress: dict[str, Frame | None] = {}  # running calls and the last progress of each
        self._waits = Waits(self._announce, self.changed)
        self._list_readers: set[Watcher] = set()
        self._changes = Changes(self._publish_changes)
        self._closed = False
        self._updates: dict[type, Callable[[str, Any], None]] = {
            ModelReplied: self._reply_over,
            ModelFailed: self._reply_over,
            TurnFinished: self._reply_over,
            ToolStarted: self._call_begun,
            ToolFinished: self._call_over,
            TurnClaimed: self._claimed,
        }

    def listen(self, kind: type[T], listener: Callable[[str, T], None]) -> None:
        """For parts of the server: called with the turn's id and every event of this kind, synchronously, in order."""
        self._listeners.setdefault(kind, []).append(listener)

    def committed(self, done: Committed) -> None:
        """Called once for each acknowledged commit, in the order of commits: watchers rely on rising numbers in each
        conversation. What is known of a running reply is updated before any watcher is woken, so a watcher that
        joins now does not get a finished reply as a running one. A listener must not block; its error goes to the
        waiter of the append, while the rows stay committed."""
        frames: list[Frame] = []
        for row in done.rows:
            if update := self._updates.get(type(row.event)):
                update(done.turn_id, row.event)
            frames.append(Frame(done.conversation_id, done.turn_id, done.parent_id, row))
        last = done.rows[-1].event
        if isinstance(last, TurnClaimed) and (partial := self._partial.get(done.turn_id)):
            for asked in partial.inputs.values():  # who sees a turn taken up again takes its questions for lost
                frames.append(Frame(done.conversation_id, done.turn_id, None, asked))
        self._send(done.conversation_id, frames, isinstance(last, TurnFinished) or len(frames) > len(done.rows))
        for frame in frames[len(done.rows) :]:
            if isinstance(frame.what, InputNeeded):
                self._waits.asked(done.conversation_id, done.turn_id, frame.what)
        if self._list_readers and any(isinstance(row.event, _LISTED) for row in done.rows):
            self._changes.note(done.conversation_id)
        for row in done.rows:
            for listener in self._listeners.get(type(row.event), ()):
                listener(done.turn_id, row.event)

    def emit(self, conversation_id: str, turn_id: str, event: LiveEvent) -> None:
        """A live event reaches a watcher at most once and in order with the rows around it. It is in no log: a watcher
        that was behind gets what all of them amount to from `so_far`."""
        if isinstance(event, Waiting):
            return self._waits.begin(conversation_id, turn_id, event)
        frame = Frame(conversation_id, turn_id, None, event)
        if not isinstance(event, ToolProgress):
            self._remember(conversation_id, turn_id, event)
        elif event.call_id in self._progress:  # it may also come when the call is over
            self._progress[event.call_id] = frame
            self._waits.progressed(turn_id, event)
        for listener in self._listeners.get(type(event), ()):
            listener(turn_id, event)
        self._send(conversation_id, [frame], type(event) not in _PATIENT)
        if isinstance(event, InputNeeded):
            self._waits.asked(conversation_id, turn_id, event)

    def answered(self, turn_id: str, call_id: str) -> None:
        """Nobody who comes later is asked again."""
        if partial := self._partial.get(turn_id):
            partial.inputs.pop(call_id, None)
        self._waits.answered(turn_id, call_id)

    def waiting(self, turn_id: str) -> Waiting | None:
        """What the turn waits for just now, announced or not."""
        return self._waits.current(turn_id)

    def announced(self, turn_id: str) -> Waiting | None:
        """What the turn waits for, once it has lasted: for lists, where what is over at once would flicker."""
        return self._waits.current_announced(turn_id)

    def changed(self, conversation_id: str) -> None:
        """Its row in the list is another now, and can be read."""
        if self._list_readers:
            self._changes.note(conversation_id)

    def show_changes(self, show: Show) -> None:
        self._changes.show = show

    def settled(self, turn_id: str) -> None:
        """Nobody drives the turn any more, so it waits for nothing here."""
        self._waits.forget(turn_id)

    def deleted(self, conversation_id: str, turn_id: str, ids: Sequence[str]) -> None:
        self._send(conversation_id, [Frame(conversation_id, turn_id, None, MessagesDeleted(tuple(ids)))], True)
        self.changed(conversation_id)

    def result_added(self, conversation_id: str, turn_id: str, part: int, content: str) -> None:
        self._send(conversation_id, [Frame(conversation_id, turn_id, None, ResultAdded(part, content))], True)

    def watch(
        self, conversation_id: str, after: int = 0, turn_id: str | None = None, *, unborn: bool = False
    ) -> "Watcher":
        """Everything after this number, of one turn or of all; then what comes. Close it when done. An `unborn` turn
        has no past to be read."""
        watcher = Watcher(self, conversation_id, after, turn_id, ended=self._closed, behind=not unborn)
        self._watchers.setdefault(conversation_id, set()).add(watcher)
        return watcher

    def watch_list(self, conversation_id: str = "", after: int = 0) -> "Watcher":
        """Each conversation whose row in the list changes; of one of them, everything as `watch` gives it."""
        watcher = self.watch(conversation_id, after, unborn=not conversation_id)
        self._list_readers.add(watcher)
        return watcher

    def catch_up(self, conversation_id: str, after: int) -> list[Frame]:
        return [
            Frame(done.conversation_id, done.turn_id, done.parent_id, row)
            for done in self._replay(conversation_id, after)
            for row in done.rows
        ]

    def so_far(self, conversation_id: str, turn_id: str | None) -> list[Frame]:
        """Of one turn, or of all that are under way in the conversation. A watcher that comes back may have seen every
        row of them."""
        frames: list[Frame] = []
        for running_id, partial in self._partial.items():
            if partial.conversation_id == conversation_id and turn_id in (None, running_id):
                calls = tuple(CallDelta(partial.attempt, i, n, "".join(a)) for i, (n, a) in partial.calls.items())
                so_far = ReplySoFar(partial.attempt, "".join(partial.text), "".join(partial.reasoning), calls)
                frames.append(Frame(conversation_id, running_id, None, so_far))
                frames.extend(Frame(conversation_id, running_id, None, asked) for asked in partial.inputs.values())
        for last in self._progress.values():
            if last and last.conversation_id == conversation_id and turn_id in (None, last.turn_id):
                frames.append(last)
        for waiting_id, waiting in self._waits.announced(conversation_id, turn_id):
            frames.append(Frame(conversation_id, waiting_id, None, waiting))
        return frames

    def leave(self, watcher: "Watcher") -> None:
        self._list_readers.discard(watcher)
        watchers = self._watchers.get(watcher.conversation_id)
        if watchers:
            watchers.discard(watcher)
            if not watchers:
                del self._watchers[watcher.conversation_id]

    def close(self) -> None:
        """End every watcher: the server shuts down, and each reconnects with the last number it saw."""
        self._closed = True
        for watchers in self._watchers.values():
            for watcher in watchers:
                watcher.end()

    @property
    def watchers(self) -> int:
        return sum(len(watchers) for watchers in self._watchers.values())

    def partial_text(self, turn_id: str) -> str:
        """The text of the reply that is being streamed."""
        partial = self._partial.get(turn_id)
        return "".join(partial.text) if partial else ""

    def _send(self, conversation_id: str, frames: list[Frame], urgent: bool) -> None:
        if watchers := self._watchers.get(conversation_id):
            size = sum(map(_size, frames))
            for watcher in watchers:
                watcher.put(frames, size, urgent)

    def _announce(self, conversation_id: str, turn_id: str, waiting: Waiting) -> None:
        for listener in self._listeners.get(Waiting, ()):
            listener(turn_id, waiting)
        self._send(conversation_id, [Frame(conversation_id, turn_id, None, waiting)], True)
        self.changed(conversation_id)

    def _publish_changes(self, changes: list[ConversationChanged]) -> None:
        frames = [Frame(change.id, "", None, change) for change in changes]
        for watcher in self._list_readers:
            watcher.put_changes(frames)

    def _claimed(self, turn_id: str, _: TurnClaimed) -> None:
        self._waits.forget(turn_id)

    def _reply_over(self, turn_id: str, end: ModelReplied | ModelFailed | TurnFinished) -> None:
        self._partial.pop(turn_id, None)
        if isinstance(end, TurnFinished):
            self._waits.forget(turn_id)
        else:
            self._waits.over(turn_id)

    def _call_begun(self, turn_id: str, start: ToolStarted) -> None:
        self._progress[start.call_id] = None

    def _call_over(self, turn_id: str, end: ToolFinished) -> None:
        self._progress.pop(end.call_id, None)
        self.answered(turn_id, end.call_id)
        self._waits.over(turn_id, end.call_id)

    def _remember(self, conversation_id: str, turn_id: str, event: LiveEvent) -> None:
        partial = self._partial.get(turn_id)
        if partial is None:
            partial = self._partial[turn_id] = _Partial(conversation_id)
        match event:
            case TextDelta():
                partial.text.append(event.text)
            case ReasoningDelta():
                partial.reasoning.append(event.text)
            case CallDelta():
                name, arguments = partial.calls.setdefault(event.index, (event.name, []))
                arguments.append(event.arguments)
                partial.calls[event.index] = (name or event.name, arguments)
            case ReplyReset():
                self._partial[turn_id] = _Partial(conversation_id, event.attempt)
            case InputNeeded():
                partial.inputs[event.call_id] = event
                return
        if turn_id in self._waits:
            self._waits.over(turn_id)


class Watcher:
    """One reader's place. `frames` gives all there is, or waits."""

    def __init__(
        self,
        bus: Bus,
        conversation_id: str,
        after: int,
        turn_id: str | None,
        *,
        ended: bool = False,
        behind: bool = True,
    ) -> None:
        self.conversation_id = conversation_id
        self.ended = ended
        self._bus = bus
        self._loop = asyncio.get_running_loop()
        self._last = after
        self._turn_id = turn_id
        self._queue: deque[Frame] = deque()
        self.queued_bytes = 0
        self._behind = behind  # the queue is then empty, and rows are read from the log instead
        self._waiter: asyncio.Future[None] | None = None  # of the one reader; a second one would never wake
        self._ride: asyncio.TimerHandle | None = None
        self._nudged = False
        self._changed: dict[str, Frame] = {}  # of the list; the newest of each conversation

    def put(self, frames: list[Frame], size: int, urgent: bool) -> None:
        """Words, questions and ends are urgent; the steps between them come along with the next of those."""
        if self.ended:
            return
        if self._behind:
            return self._wake()
        if self._queue and (len(self._queue) >= MOST_QUEUED or self.queued_bytes + size > MOST_BYTES):
            # A slow reader holds up nobody: it reads the log when it comes back. What is larger than the bound by
            # itself still reaches a reader whose queue is empty.
            self._fall_behind()
        else:
            self._queue.extend(frames)
            self.queued_bytes += size
        if urgent:
            self._wake()
        elif self._waiter and self._ride is None:
            self._ride = self._loop.call_later(RIDE_S, self._wake)

    def put_changes(self, frames: list[Frame]) -> None:
        """A reader that lets too many pile up is ended: it comes back and reads the whole list."""
        if self.ended:  # it stays among the readers until its connection is closed
            return
        self._changed |= {frame.conversation_id: frame for frame in frames}
        if len(self._changed) > MOST_CHANGED:
            return self.end()
        self._wake()

    async def frames(self) -> list[Frame]:
        while True:
            if self.ended:
                return []
            if found := self._next():
                return found
            if self._nudged:
                self._nudged = False
                return []
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None

    def at_once(self) -> list[Frame]:
        return self._next()

    def nudge(self) -> None:
        """Let `frames` return now, with nothing if there is nothing."""
        self._nudged = True
        self._wake()

    def end(self) -> None:
        self.ended = True
        self._changed.clear()
        self._fall_behind()
        self._wake()

    def close(self) -> None:
        if self._ride:
            self._ride.cancel()
        self._bus.leave(self)

    def _fall_behind(self) -> None:
        self._queue.clear()
        self.queued_bytes = 0
        self._behind = True

    def _next(self) -> list[Frame]:
        found = self._of_conversation()
        if self._changed:
            found = [*found, *self._changed.values()]
            self._changed.clear()
        return found

    def _of_conversation(self) -> list[Frame]:
        if not self._behind:
            found = self._new(self._queue)
            self._queue.clear()
            self.queued_bytes = 0
            return found
        rows = self._bus.catch_up(self.conversation_id, self._last)
        found = self._new(rows)
        if not rows:
            # Nothing awaits between the read that found no more rows and this line, so no row can fall between the log
            # and the queue.
            self._behind = False
            found = self._bus.so_far(self.conversation_id, self._turn_id)
        elif not found:
            return self._of_conversation()
        return found

    def _new(self, frames: Iterable[Frame]) -> list[Frame]:
        """Each row once, by its number: a row may be read from the log and queued as well. Of one turn, if only one is
        watched; the rows of others count as seen."""
        found: list[Frame] = []
        for frame in frames:
            if isinstance(row := frame.what, Recorded):
                if row.number <= self._last:
                    continue
                self._last = row.number
            if self._turn_id is None or frame.turn_id == self._turn_id:
                found.append(frame)
        return found

    def _wake(self) -> None:
        if self._ride:
            self._ride.cancel()
            self._ride = None
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)


def _size(frame: Frame) -> int:
    """About as many bytes as it keeps in memory. A row that was just committed has its stored form with it."""
    match frame.what:
        case Recorded(body=body):
            return _HEAD_BYTES + len(body)
        case TextDelta(text=text) | ReasoningDelta(text=text) | CallDelta(arguments=text) | ToolProgress(message=text):
            return _HEAD_BYTES + sys.getsizeof(text)
        case InputNeeded(message=message, schema=schema):
            return _HEAD_BYTES + sys.getsizeof(message) + sys.getsizeof(schema)
        case MessagesDeleted(ids=ids):
            return _HEAD_BYTES * (1 + len(ids))
        case ResultAdded(content=content):
            return _HEAD_BYTES + sys.getsizeof(content)
        case _:
            return _HEAD_BYTES
