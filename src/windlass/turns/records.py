"""Turns read from the store, ready for the views; waiting for a turn; the names of deleted servers."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress

from windlass.bus import Bus
from windlass.bus.streams import Stream
from windlass.core.errors import NotFound
from windlass.core.events import Event, Recorded, ToolStarted, TurnFinished
from windlass.core.fold import fold
from windlass.core.ports import InputNeeded, Waiting
from windlass.core.values import value_object
from windlass.runner import Runner
from windlass.servers import Servers
from windlass.store import NO_TURN, Documents, Store, TurnRow
from windlass.toolbox import Questions, UnsentCalls, input_needed
from windlass.turns.views import TurnRecord


class TurnRecords:
    def __init__(
        self,
        store: Store,
        bus: Bus,
        servers: Servers,
        deleted_servers: "DeletedServers",
        questions: Questions,
        unsent: UnsentCalls,
    ) -> None:
        self._store = store
        self._bus = bus
        self._servers = servers
        self._deleted_servers = deleted_servers
        self._questions = questions
        self._unsent = unsent

    def get(self, turn_id: str) -> TurnRecord:
        conversations = self._store.conversations
        return self._record(conversations.turn(turn_id), conversations.log(turn_id))

    def path(self, conversation_id: str, head: str = "", first: str = "") -> Iterator[TurnRecord]:
        """The turns to the head, all or from the `first` one. Each log is read when it is asked for: a long path is
        read in slices."""
        conversations = self._store.conversations
        path = conversations.path(conversation_id, head or None)
        if first:
            path = path[_index(path, first) :]
        return (self._record(turn, conversations.log(turn.id)) for turn in path)

    def all(self, conversation_id: str) -> Iterator[TurnRecord]:
        conversations = self._store.conversations
        return (self._record(turn, conversations.log(turn.id)) for turn in conversations.turns(conversation_id))

    def open_questions(self) -> "OpenQuestions":
        found = OpenQuestions(Counter(), Counter())
        for turn_id, count in self._questions.by_turn().items():
            with suppress(NotFound):
                turn = self._store.conversations.turn(turn_id)
                if turn.state != "finished":
                    found.by_turn[turn_id] += count
                    found.by_conversation[turn.conversation_id] += count
        return found

    def in_conversation(self, conversation_id: str, turn_id: str) -> TurnRecord:
        record = self.get(turn_id)
        if record.conversation_id != conversation_id:
            raise NotFound(f"There is no turn {turn_id} in this chat.", hint=NO_TURN)
        return record

    def stream(self, conversation_id: str, after: int) -> Stream:
        """A number we have not given yet cannot have been seen: such a reader starts over."""
        known = after == 0 or self._store.conversations.events_after(conversation_id, after - 1, 1)
        return Stream(self._bus.watch(conversation_id, after if known else 0), self._last_seq)

    def list_stream(self, conversation_id: str, after: int) -> Stream:
        """What changes in the list of conversations; of one of them, all that `stream` gives."""
        known = after == 0 or self._store.conversations.events_after(conversation_id, after - 1, 1)
        return Stream(self._bus.watch_list(conversation_id, after if known else 0), self._last_seq)

    def stream_of_unborn(self, conversation_id: str, turn_id: str) -> Stream:
        """For the request that is about to create this turn."""
        return Stream(self._bus.watch(conversation_id, turn_id=turn_id, unborn=True), self._last_seq, turn_id)

    def turn_stream(self, turn_id: str, after: int = 0) -> Stream:
        record = self.get(turn_id)
        first, last = record.rows[0].number, record.rows[-1]
        if after and not self._store.conversations.events_after(record.conversation_id, after - 1, 1):
            after = 0
        watcher = self._bus.watch(record.conversation_id, max(after, first - 1), turn_id)
        over = isinstance(last.event, TurnFinished) and after >= last.number
        return Stream(watcher, self._last_seq, turn_id, ended=over)

    def _record(self, turn: TurnRow, rows: Sequence[Recorded]) -> TurnRecord:
        slugs = self._deleted_servers.slugs | {config.id: config.slug for config in self._servers.configs()}
        questions = {} if turn.state == "finished" else dict(self._asked(rows))
        waiting = self._bus.waiting(turn.id)
        sign_ins = frozenset() if turn.state == "finished" else frozenset(self._waiting_for_sign_in(rows))
        return TurnRecord(turn.id, turn.conversation_id, turn.parent_id, rows, slugs, questions, waiting, sign_ins)

    def _asked(self, rows: Sequence[Recorded]) -> Iterator[tuple[str, InputNeeded]]:
        for call in fold([row.event for row in rows]).calls:
            question = self._questions.pending(call.call.id) if call.running or call.interrupted else None
            if question:
                yield call.call.id, input_needed(call.call.id, question)

    def _waiting_for_sign_in(self, rows: Sequence[Recorded]) -> Iterator[str]:
        starts = (row.event for row in rows if isinstance(row.event, ToolStarted))
        return (event.call_id for event in starts if self._unsent.server_of(event.call_id))

    def _last_seq(self, turn_id: str) -> int:
        return self._store.conversations.log(turn_id)[-1].seq


def _index(path: Sequence[TurnRow], turn_id: str) -> int:
    for index, turn in enumerate(path):
        if turn.id == turn_id:
            return index
    raise NotFound(f"There is no turn {turn_id} in this branch.", hint=NO_TURN)


@value_object
class OpenQuestions:
    """How many calls wait for a person's answer. Lists show them as waiting; the store knows nothing of them."""

    by_turn: Counter[str]
    by_conversation: Counter[str]

    def state(self, turn_id: str, stored: str) -> str:
        return "awaiting_person" if stored == "running" and self.by_turn[turn_id] else stored


class TurnWaiter:
    def __init__(self, bus: Bus, runner: Runner) -> None:
        self._runner = runner
        self._asked: dict[str, list[asyncio.Future[None]]] = {}
        bus.listen(InputNeeded, lambda turn_id, _: self._needs_person(turn_id))
        bus.listen(Waiting, self._waits)

    async def settled(self, turn_id: str, timeout_s: float | None = None) -> None:
        asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked.setdefault(turn_id, []).append(asked)
        settled = asyncio.ensure_future(self._runner.settled(turn_id, timeout_s))
        try:
            await asyncio.wait({settled, asked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            settled.cancel()
            self._asked[turn_id].remove(asked)
            if not self._asked[turn_id]:
                del self._asked[turn_id]

    async def until(self, stream: Stream, met: Callable[[Event], bool], timeout_s: float) -> None:
        """Until an event is in the log, or the time is up."""
        with closing(stream), suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while True:
                    for frame in await stream.frames():
                        if isinstance(frame.what, Recorded) and met(frame.what.event):
                            return

    def _waits(self, turn_id: str, waiting: Waiting) -> None:
        if waiting.for_ == "sign_in":
            self._needs_person(turn_id)

    def _needs_person(self, turn_id: str) -> None:
        for waiter in self._asked.get(turn_id, ()):
            if not waiter.done():
                waiter.set_result(None)


@value_object
class DeletedServer:
    id: str
    slug: str


class DeletedServers:
    """Servers that are gone: calls made to them keep the name they were made under."""

    def __init__(self, store: Store) -> None:
        self._kept: Documents[DeletedServer] = store.documents("former_server", DeletedServer)
        self.slugs = {one.id: one.slug for one in self._kept.all()}

    async def add(self, id: str, slug: str) -> None:
        self.slugs[id] = slug
        await self._kept.put(id, DeletedServer(id, slug))
