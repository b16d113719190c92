"""The log of turns: who may append what, and on which condition. All conditions are checked inside the job that writes
the rows, so nothing can come between check and write; they read a small memory of each turn, so the hot path reads
nothing from disk. Each invariant stands below where it is kept."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from windlass.core.errors import Conflict, Fenced, NotFound, Unavailable
from windlass.core.events import (
    CallDecided,
    CallResolved,
    Committed,
    Event,
    ModelReplied,
    Recorded,
    StopRequested,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnFinished,
    TurnStarted,
)
from windlass.core.faults import reach
from windlass.core.ids import new_id
from windlass.core.messages import Attachment, ChatMessage
from windlass.core.values import value_object
from windlass.store.codec import DECODERS, KIND_OF, VERSION, decode, encode
from windlass.store.writer import Writer

T = TypeVar("T")
# An event's position is its conversation's number and its own number in it, as one integer: the key of its row. A new
# event is written behind the last one, and a turn's events are found between two positions without an index.
BITS = 32
LAST = (1 << BITS) - 1  # of a conversation; also the bits of a position that are the event's own number
OF_TURN = (
    "from turns t join events e on e.place between t.first_place and t.last_place and e.turn_id = t.id"
    " where t.id = ? order by e.place"
)
OF_CONVERSATION = f"events e on e.place between (c.n << {BITS}) and (c.n << {BITS}) + {LAST}"
_INSERT = "insert into events values(?, ?, ?, ?, ?, ?, ?, ?)"
NO_TURN = "GET /conversations/{id}/messages shows what is there, with its turns."
HEAD = "head"  # as a parent: the conversation's newest turn, whichever that is when the row is written


@value_object
class Created:
    turn_id: str
    is_new: bool


@dataclass(slots=True)
class _Head:
    """What the writer knows of a turn: the log as it is with all jobs that ran, acknowledged or not. A driver may be
    behind it, never ahead."""

    conversation: int
    conversation_id: str
    parent_id: str | None
    epoch: int  # grows with every claim; what names an older one is fenced
    count: int  # of rows, so the seq of the next one
    keys: set[str]  # of rows that may be there only once
    finished: bool


@dataclass(slots=True, eq=False)
class _Live:
    """What the drivers know of a turn: its events, futures that wait for more, and how many handles keep it open. It is
    behind the file by what awaits a flush. One that is opened meanwhile reads those rows from the file, which is safe:
    whatever its driver promises is flushed after them."""

    events: list[Event]
    handles: int = 0
    waiters: list["asyncio.Future[None]"] = field(default_factory=list)

    def extend(self, rows: Sequence[Recorded]) -> None:
        if rows[0].seq == len(self.events):
            self.events += [row.event for row in rows]
        else:  # a handle that was opened between commit and delivery has read them from disk: each event counts once
            self.events += [row.event for row in rows if row.seq >= len(self.events)]
        for waiter in self.waiters:
            _wake(waiter)
        self.waiters.clear()


def _wake(waiter: "asyncio.Future[None]", because_of: object = None) -> None:
    if not waiter.done():
        waiter.set_result(None)


class TurnLogs:
    def __init__(
        self,
        writer: Writer,
        reader: sqlite3.Connection,
        publish: Callable[[Committed], None],
        born: Callable[[str, str | None, str], None],
    ) -> None:
        """`born` is called with every new turn, its parent and its conversation."""
        self._writer = writer
        self._born = born
        self._reader = reader
        self._publish = publish
        self.tokens = 0  # used by the replies written since the start
        self._heads: dict[str, _Head] = {}
        self._numbers: dict[int, int] = {}
        self._live: dict[str, _Live] = {}  # from the first `open_turn` of a turn to the last `close_turn`
        rows = reader.execute("select c.id from turns t join conversations c on c.n = t.conversation where t.doubtful")
        self.doubtful = {conversation_id for (conversation_id,) in rows}  # where a call of unknown outcome was made

    def create(
        self,
        conversation_id: str,
        started: TurnStarted,
        *following: Event,
        parent_id: str | None = HEAD,
        driver: str = "",
        turn_id: str = "",
        title: str = "",
        span: tuple[float, float] | None = None,
    ) -> "asyncio.Future[Created]":
        """Start a turn, already claimed when a driver is named; the driver opens its log before, as of an unborn turn,
        and so needs not read what is written here. The same client message id gives the same turn. A
        conversation without a title takes this one. A turn of another time names its `span`, when it began and when it
        ended; the conversation was not touched by it."""
        turn_id = turn_id or new_id("turn")
        rows: list[Event] = [started, *following]
        if driver:
            rows.append(TurnClaimed(driver, 1))

        def work(db: sqlite3.Connection) -> tuple[Created, Committed | None]:
            conversation, parent, same = _parent_and_twin(db, conversation_id, parent_id, started)
            if same:
                return Created(same, False), None
            _check_tools(db, started.settings.toolset)
            head = _Head(conversation, conversation_id, parent, 1 if driver else 0, 0, set(), False)
            first = position_of(conversation, self._number(db, conversation) + 1)
            last, now = position_of(conversation, LAST), span[0] if span else time.time()
            db.execute(
                "insert into turns values(?, ?, ?, ?, 'running', '', 0, 0, ?, ?, 0, 0, 1, ?, ?)",
                (turn_id, conversation, parent, head.epoch, started.client_message_id or None, now, first, last),
            )
            if not span:
                db.execute(
                    "update conversations set updated_at = ?, title = iif(title = '', ?, title) where n = ?",
                    (now, title, conversation),
                )
            self._born(turn_id, parent, conversation_id)
            return Created(turn_id, True), self._append(db, turn_id, head, rows, span=span)

        return self._writer.put(work, durable=True, then=self._after_commit)

    def claim(self, turn_id: str, driver: str) -> "asyncio.Future[int]":
        def work(db: sqlite3.Connection) -> tuple[int, Committed | None]:
            head = self._head(db, turn_id)
            if head.finished:
                return head.epoch, None
            head.epoch += 1
            db.execute("update turns set epoch = ? where id = ?", (head.epoch, turn_id))
            return head.epoch, self._append(db, turn_id, head, [TurnClaimed(driver, head.epoch)])

        return self._writer.put(work, then=self._after_commit)

    def append(
        self,
        turn_id: str,
        events: Sequence[Event],
        *,
        epoch: int | None = None,
        seen: int | None = None,
        facts: Sequence[Event] = (),
        key: str = "",
    ) -> "asyncio.Future[bool]":
        """Facts name an epoch, intents an epoch and how many events they have seen, decisions of people only a key that
        makes them unique. Intents may bring facts, which land even where the intents do not. False when nothing but
        facts landed.

        - Epochs: a driver that was superseded gets `Fenced` and writes nothing, so a turn has one driver at a time.
        - Intents see every row written before them, also those not acknowledged yet: one that was decided on a log that
          has grown since does not land, so a stop cannot be overlooked.
        - Keys: of rows with the same key the first one lands, so two people who decide at once get one decision.
        - Nothing lands behind `TurnFinished`.
        """

        def work(db: sqlite3.Connection) -> tuple[bool, Committed | None]:
            head = self._head(db, turn_id)
            if epoch is not None and epoch != head.epoch:
                raise Fenced(f"Turn {turn_id} has another driver.")
            lands = seen is None or seen == head.count
            rows = (*facts, *events) if lands else facts
            if head.finished or not rows or (key and key in head.keys):
                return False, None
            done = self._append(db, turn_id, head, rows, key)
            return lands and done is not None, done

        return self._writer.put(work, durable=_is_promise((*facts, *events)), then=self._after_commit)

    @property
    def driven(self) -> int:
        """How many turns are under way."""
        return len(self._live)

    def forget(self) -> None:
        """After a failed commit or a deletion the memory may be ahead of the disk: the next job reads it anew."""
        self._heads.clear()
        self._numbers.clear()

    def read(self, turn_id: str) -> tuple[Recorded, ...]:
        rows = self._reader.execute(
            f"select e.seq, e.number, e.at, e.kind, e.body, e.version {OF_TURN}",
            (turn_id,),
        )
        return tuple(
            [
                Recorded(seq, number, at, DECODERS[kind].decode(body) if v == VERSION else decode(kind, body, v))
                for seq, number, at, kind, body, v in rows
            ]
        )

    def open_turn(self, turn_id: str, *, unborn: bool = False) -> _Live:
        """Keep a turn's events in memory until as many have closed it as opened it. An unborn turn has none yet: they
        are delivered when `create` is acknowledged."""
        live = self._live.get(turn_id) or _Live([])
        if not live.events and not unborn:  # also where another opened it unborn, and the delivery is still to come
            live.events += [row.event for row in self.read(turn_id)]
        live.handles += 1
        self._live[turn_id] = live
        return live

    def close_turn(self, turn_id: str) -> None:
        live = self._live[turn_id]
        live.handles -= 1
        if not live.handles:
            del self._live[turn_id]

    def _head(self, db: sqlite3.Connection, turn_id: str) -> _Head:
        if turn_id in self._heads:
            return self._heads[turn_id]
        found = db.execute(
            "select t.conversation, c.id, t.parent_id, t.epoch from turns t"
            " join conversations c on c.n = t.conversation where t.id = ?",
            (turn_id,),
        ).fetchone()
        if not found:
            raise NotFound(f"There is no turn {turn_id}.", hint=NO_TURN)
        rows = db.execute(f"select e.kind, e.key {OF_TURN}", (turn_id,)).fetchall()
        keys = {key for _, key in rows if key}
        head = _Head(found[0], found[1], found[2], found[3], len(rows), keys, rows[-1][0] == "turn_finished")
        self._heads[turn_id] = head
        return head

    def _append(
        self,
        db: sqlite3.Connection,
        turn_id: str,
        head: _Head,
        events: Sequence[Event],
        key: str = "",
        span: tuple[float, float] | None = None,
    ) -> Committed | None:
        now = span[0] if span else time.time()
        number = self._number(db, head.conversation)
        start = position_of(head.conversation, 0)
        rows: list[Recorded] = []
        for event in events:
            once = _ONCE.get(type(event))
            unique = key or (f"{once}:{event.call_id}" if once else None)  # type: ignore[union-attr]
            if unique and unique in head.keys:
                continue
            number += 1
            seq, body = head.count + len(rows), encode(event)
            db.execute(_INSERT, (start + number, turn_id, seq, now, KIND_OF[type(event)], VERSION, unique, body))
            if unique:
                head.keys.add(unique)
            rows.append(Recorded(seq, number, now, event, body))
            now = span[1] if span else now
            if isinstance(event, ToolFinished) and event.state == "unknown":
                db.execute("update turns set doubtful = 1 where id = ?", (turn_id,))
                self.doubtful.add(head.conversation_id)
        self._numbers[head.conversation] = number
        head.count += len(rows)
        self._heads[turn_id] = head
        if rows and isinstance(finish := rows[-1].event, TurnFinished):
            head.finished = True
            db.execute(
                "update turns set state = 'finished', outcome = ?, last_place = ? where id = ?",
                (finish.outcome, start + number, turn_id),
            )
            del self._heads[turn_id]
        reach("rows_written")
        return Committed(head.conversation_id, turn_id, head.parent_id, tuple(rows)) if rows else None

    def _number(self, db: sqlite3.Connection, conversation: int) -> int:
        if conversation not in self._numbers:
            (last,) = db.execute(
                "select coalesce(max(place), 0) from events where place between ? and ?",
                (position_of(conversation, 0), position_of(conversation, LAST)),
            ).fetchone()
            self._numbers[conversation] = last & LAST
        return self._numbers[conversation]

    def _after_commit(self, result: tuple[T, Committed | None]) -> T:
        """Runs when rows are acknowledged, in the order of commits: drivers see them first, then watchers, then the
        waiter of the append. So nobody who saw a row finds a driver that has not."""
        value, done = result
        if done:
            reach("rows_committed")
            for row in done.rows:
                if isinstance(row.event, ModelReplied):
                    self.tokens += tokens_of(row.event)
            if live := self._live.get(done.turn_id):
                live.extend(done.rows)
            self._publish(done)
        return value


class TurnLog:
    """One turn's log in a driver's hand: core's `Log` port. The turn is live from here until `close`. Opened `unborn`,
    it goes with a `create` that names the same driver, and that claims the turn as well."""

    def __init__(self, logs: TurnLogs, turn_id: str, driver: str, *, unborn: bool = False) -> None:
        self.turn_id = turn_id
        self._logs = logs
        self._driver = driver
        self._epoch = 1 if unborn else 0
        self._loop = asyncio.get_running_loop()  # asked for once: before Python 3.12 each time is a system call
        self._live = logs.open_turn(turn_id, unborn=unborn)
        self._open = True

    def __enter__(self) -> "TurnLog":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Once is enough, twice does no harm. What was appended lands all the same."""
        if self._open:
            self._open = False
            self._logs.close_turn(self.turn_id)

    async def read(self) -> Sequence[Event]:
        return tuple(self._live.events)

    async def claim(self) -> None:
        if not self._epoch:
            self._epoch = await self._logs.claim(self.turn_id, self._driver)

    def give_up_claim(self) -> None:
        """The next `claim` writes one of its own: what failed under this one may have left calls without a driver."""
        self._epoch = 0

    def record(self, *facts: Event) -> "asyncio.Future[bool]":
        return self._logs.append(self.turn_id, facts, epoch=self._epoch)

    def begin(self, seen: int, *intents: Event, facts: Sequence[Event] = ()) -> "asyncio.Future[bool]":
        return self._logs.append(self.turn_id, intents, epoch=self._epoch, seen=seen, facts=facts)

    async def changed(self, seen: int, also: "asyncio.Future[Any] | None" = None) -> None:
        while len(self._live.events) <= seen and not (also and also.done()):
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._live.waiters.append(waiter)
            if also:
                also.add_done_callback(partial(_wake, waiter))
            await waiter


def _check_tools(db: sqlite3.Connection, toolset: str) -> None:
    """The tools are written by a job just before, which may have failed alone: a turn without them could never run."""
    if toolset and not db.execute("select 1 from toolsets where hash = ?", (toolset,)).fetchone():
        raise Unavailable(
            "The tools of this turn could not be written.",
            hint="Try again. If it stays so: is the disk full, is the data folder writable?",
            code="store_unavailable",
        )


def _parent_and_twin(
    db: sqlite3.Connection, conversation_id: str, parent_id: str | None, started: TurnStarted
) -> tuple[int, str | None, str]:
    """The conversation's number, the parent, and the turn that this client message made already, if it did."""
    found = db.execute("select n from conversations where id = ?", (conversation_id,)).fetchone()
    if not found:
        raise NotFound(f"There is no chat {conversation_id}.", hint="GET /conversations shows those that are there.")
    (conversation,) = found
    if started.client_message_id:
        same = db.execute(
            "select t.id, e.kind, e.body, e.version from turns t join events e on e.place = t.first_place"
            " where t.conversation = ? and t.client_message_id = ?",
            (conversation, started.client_message_id),
        ).fetchone()
        if same:
            return conversation, None, _same_message(same, started)
    return conversation, _parent(db, conversation, parent_id), ""


def _same_message(same: tuple[str, str, bytes, int], started: TurnStarted) -> str:
    turn_id, kind, body, version = same
    earlier = decode(kind, body, version)
    if not isinstance(earlier, TurnStarted) or _as_sent(earlier) != _as_sent(started):
        raise Conflict(
            f"The client message id {started.client_message_id} was used for another message.",
            hint="Use a new id for a new message.",
            code="client_message_id_used",
            detail={"turn_id": turn_id},
        )
    return turn_id


def _as_sent(started: TurnStarted) -> list[ChatMessage]:
    """Without what was read for it: sent twice, a message names the same resources, which may have changed."""
    return [
        replace(message, attached=tuple(Attachment("", one.server, one.uri, "") for one in message.attached))
        for message in started.opening
    ]


def _parent(db: sqlite3.Connection, conversation: int, parent_id: str | None) -> str | None:
    if parent_id is None:
        return None
    exact = None if parent_id == HEAD else parent_id
    found = db.execute(
        "select id, state from turns where conversation = ?1 and (?2 is null or id = ?2) order by id desc limit 1",
        (conversation, exact),
    ).fetchone()
    if not found:
        if parent_id == HEAD:
            return None
        raise NotFound(f"There is no turn {parent_id} in this chat.", hint=NO_TURN)
    turn_id, state = found
    if state != "finished":
        raise Conflict(
            f"Turn {turn_id} is still under way.",
            hint="Wait for it, stop it, or branch from an earlier turn.",
            code="turn_running",
            detail={"turn_id": turn_id},
        )
    return str(turn_id)


def position_of(conversation: int, number: int) -> int:
    return conversation << BITS | number


def tokens_of(event: Event) -> int:
    return event.usage.prompt + event.usage.completion if isinstance(event, ModelReplied) else 0


def _is_promise(events: Sequence[Event]) -> bool:
    """Whether these rows must be on the disk before they are acknowledged: a person's decision, a turn's end, and the
    start of a call that must not be sent twice. Other rows may be lost in a power cut: the work is then done again."""
    for event in events:
        if isinstance(event, _PROMISES) or (isinstance(event, ToolStarted) and not event.safe):
            return True
    return False


_PROMISES = (CallDecided, CallResolved, StopRequested, TurnFinished)
_ONCE = {ToolFinished: "finished", CallDecided: "decided", StopRequested: "stop"}
