"""Conversations and the tree of their turns: listing, finding, changing, deleting for good."""

import asyncio
import math
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import msgspec

from windlass.core.errors import BadInput, Conflict, NotFound
from windlass.core.events import (
    CallDecided,
    Committed,
    Event,
    ModelFailed,
    ModelReplied,
    Recorded,
    ToolFinished,
    TurnStarted,
)
from windlass.core.fold import fold
from windlass.core.ids import new_id
from windlass.core.messages import NO_RESULT, ChatMessage, ToolCall, ToolOutput
from windlass.core.steps import as_decided
from windlass.core.values import value_object
from windlass.store.codec import VERSION, decode, encode
from windlass.store.turnlog import (
    BITS,
    LAST,
    NO_TURN,
    OF_CONVERSATION,
    OF_TURN,
    TurnLogs,
    position_of,
    tokens_of,
)
from windlass.store.writer import Writer

NAMES_EDITION = 2  # names of models are looked up; those stored in the first edition keep the provider they meant


@value_object
class ConversationRow:
    id: str
    title: str = ""
    description: str = ""
    system_prompt: str = ""
    persona: str = ""
    provider: str = ""
    model: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    max_messages: int | None = None
    hidden: bool = False  # made for API clients; not listed, removed after a day, or later where it is a `client`'s
    client: str = ""  # the program whose calls over MCP it holds, as it names itself
    names_edition: int = 1  # under which `model` was stored
    imported_at: float = 0  # when it was imported; its other times may be older
    created_at: float = 0
    updated_at: float = 0


@value_object
class TurnRow:
    """A turn's row: what can be known of it without its log."""

    id: str
    conversation_id: str
    parent_id: str | None
    state: str  # running, awaiting_person, finished
    outcome: str
    approvals: int
    unknowns: int
    created_at: float
    revision: int


@value_object
class Listed:
    """A conversation in a list, with the state of its newest turn and how much of it waits for a person."""

    conversation: ConversationRow
    state: str
    outcome: str
    approvals: int
    unknowns: int
    head: str


@value_object
class Found:
    conversation_id: str
    turn_id: str


_TURN = "t.id, c.id, t.parent_id, t.state, t.outcome, t.approvals, t.unknowns, t.created_at, t.revision"
_ALL = "select id, title, hidden, created_at, updated_at, body from conversations"
_ONE = f"{_ALL} where id = ?"
_LISTED = (
    "select c.id, c.title, c.hidden, c.created_at, c.updated_at, c.body, t.state, t.outcome,"
    " (select coalesce(sum(approvals), 0) from turns where conversation = c.n and state <> 'finished'),"
    " (select coalesce(sum(unknowns), 0) from turns where conversation = c.n and state <> 'finished'), t.id"
    " from conversations c left join turns t on t.id = (select max(id) from turns where conversation = c.n)"
)
PAGE_BYTES = 256 * 1024  # of rows that a watcher reads at once: it holds them until its reader has taken them
_LIST = "GET /conversations shows those that are there."
_OF_CLIENT = '(instr(body, \'"client":"\') and not instr(body, \'"client":""\'))'  # older rows do not have the field
_PLAIN = ("id", "title", "hidden", "created_at", "updated_at")


@value_object
class UnknownCall:
    """A call that may have taken effect, and the hash of the tools among which its name was given."""

    call: ToolCall
    toolset: str = ""


class ConversationStore:
    def __init__(
        self,
        writer: Writer,
        reader: sqlite3.Connection,
        logs: TurnLogs,
        changed: Callable[[str], None],
        drop_blobs: Callable[[str, Sequence[str] | None], None],
        open_reader: Callable[[], sqlite3.Connection],
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._logs = logs
        self._changed = changed
        self._drop_blobs = drop_blobs
        self._open_reader = open_reader
        self._spent: tuple[float, int] | None = None  # since when, and what was used since then less `TurnLogs.tokens`

    async def create(self, conversation: ConversationRow) -> ConversationRow:
        """Times that are given are kept."""
        now = time.time()
        made = replace(
            conversation,
            id=conversation.id or new_id("conv"),
            created_at=conversation.created_at or now,
            updated_at=conversation.updated_at or now,
        )

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "insert into conversations(id, title, body, hidden, created_at, updated_at) values(?, ?, ?, ?, ?, ?)",
                (made.id, made.title, _body(made), made.hidden, made.created_at, made.updated_at),
            )

        await self._writer.put(work, durable=True)
        return made

    def get(self, id: str) -> ConversationRow:
        row = self._reader.execute(_ONE, (id,)).fetchone()
        if not row:
            raise NotFound(f"There is no chat {id}.", hint=_LIST)
        return _conversation(row)

    async def change(self, id: str, given: Mapping[str, Any]) -> ConversationRow:
        """Set the fields that are given. The job that writes the row reads it: two changes at once both land."""

        def work(db: sqlite3.Connection) -> ConversationRow:
            row = db.execute(_ONE, (id,)).fetchone()
            if not row:
                raise NotFound(f"There is no chat {id}.", hint=_LIST)
            made = replace(_conversation(row), **given, updated_at=time.time())
            db.execute(
                "update conversations set title = ?, body = ?, updated_at = ? where id = ?",
                (made.title, _body(made), made.updated_at, id),
            )
            return made

        return await self._writer.put(work, durable=True)

    def recent(self, limit: int = 50, before: tuple[float, str] | None = None) -> list[Listed]:
        """Newest first. `before` is the position of the last one seen: its time of change and its id."""
        rows = self._reader.execute(
            f"{_LISTED} where not c.hidden and (?1 is null or (c.updated_at, c.id) < (?1, ?2))"
            " order by c.updated_at desc, c.id desc limit ?3",
            (*(before or (None, None)), limit),
        )
        return [_listed(row) for row in rows]

    def waiting_clients(self) -> list[Listed]:
        """Of programs over MCP, those with a turn that has not ended."""
        ids = dict.fromkeys(turn.conversation_id for turn in self.unfinished())
        rows = (self.listed(id) for id in ids)
        return [row for row in rows if row and row.conversation.client]

    def listed(self, id: str) -> Listed | None:
        """None where it is gone."""
        row = self._reader.execute(f"{_LISTED} where c.id = ?", (id,)).fetchone()
        return _listed(row) if row else None

    async def search(self, text: str, limit: int = 50) -> list[Found]:
        """Finished turns whose messages and results have all the words, best first. In a thread: a common word ranks
        thousands of them."""
        return await asyncio.to_thread(self._search, text, limit)

    def _search(self, text: str, limit: int) -> list[Found]:
        quoted = " ".join('"' + term.replace('"', '""') + '"*' for term in text.split())
        if not quoted:
            return []
        with closing(self._open_reader()) as reader:
            rows = reader.execute(
                "select c.id, w.turn_id from words w join conversations c on c.id = w.conversation"
                " where words match ? and not c.hidden order by rank limit ?",
                (quoted, limit),
            )
            return [Found(*row) for row in rows]

    def turns(self, conversation_id: str) -> list[TurnRow]:
        rows = self._reader.execute(
            f"select {_TURN} from turns t join conversations c on c.n = t.conversation where c.id = ? order by t.id",  # noqa: S608
            (conversation_id,),
        )
        return [TurnRow(*row) for row in rows]

    def turns_open(self, conversation_id: str) -> list[TurnRow]:
        return [turn for turn in self.unfinished() if turn.conversation_id == conversation_id]

    def turn(self, turn_id: str) -> TurnRow:
        row = self._reader.execute(
            f"select {_TURN} from turns t join conversations c on c.n = t.conversation where t.id = ?",  # noqa: S608
            (turn_id,),
        ).fetchone()
        if not row:
            raise NotFound(f"There is no turn {turn_id}.", hint=NO_TURN)
        return TurnRow(*row)

    def unfinished(self) -> list[TurnRow]:
        rows = self._reader.execute(
            f"select {_TURN} from turns t indexed by turns_pending join conversations c on c.n = t.conversation"  # noqa: S608
            " where t.pending and t.state <> 'finished' order by t.id"
        )
        return [TurnRow(*row) for row in rows]

    def hidden(self, before: float) -> list[str]:
        """Conversations of stateless requests that were made before this time."""
        rows = self._reader.execute(
            f"select id from conversations where hidden and created_at < ? and not {_OF_CLIENT}",  # noqa: S608
            (before,),
        )
        return [id for (id,) in rows]

    def of_clients(self) -> list[ConversationRow]:
        """Those that hold the calls of programs over MCP."""
        return [_conversation(row) for row in self._reader.execute(f"{_ALL} where hidden and {_OF_CLIENT}")]

    def untouched(self, since: float) -> list[str]:
        """Listed conversations without activity since this time; an import counts as activity."""
        rows = self._reader.execute(f"{_ALL} where not hidden and updated_at < ?", (since,))
        return [one.id for one in map(_conversation, rows) if one.imported_at < since]

    def head(self, conversation_id: str) -> str | None:
        """The newest turn."""
        found = self._reader.execute(
            "select t.id from turns t join conversations c on c.n = t.conversation where c.id = ?"
            " order by t.id desc limit 1",
            (conversation_id,),
        ).fetchone()
        return found[0] if found else None

    def path(self, conversation_id: str, head: str | None = None) -> list[TurnRow]:
        """The turns from the first to `head` (the newest when not named), oldest first."""
        by_id = {turn.id: turn for turn in self.turns(conversation_id)}
        found: list[TurnRow] = []
        turn_id = head or max(by_id, default=None)
        while turn_id:
            if turn_id not in by_id:
                raise NotFound(f"There is no turn {turn_id} in this chat.", hint=NO_TURN)
            found.append(by_id[turn_id])
            turn_id = by_id[turn_id].parent_id
        return found[::-1]

    def log(self, turn_id: str) -> tuple[Recorded, ...]:
        rows = self._logs.read(turn_id)
        if not rows:
            raise NotFound(f"There is no turn {turn_id}.", hint=NO_TURN)
        return rows

    def events_after(self, conversation_id: str, number: int, limit: int = 1000) -> list[Committed]:
        """Rows of all turns of a conversation in order, one by one, for a watcher that reconnects. So many, or as many
        as are about a page of bytes; none only if there are none."""
        rows = self._reader.execute(
            "select e.turn_id, t.parent_id, e.seq, e.number, e.at, e.kind, e.body, e.version"  # noqa: S608
            f" from conversations c join events e on e.place between (c.n << {BITS}) + ? and (c.n << {BITS}) + {LAST}"
            " join turns t on t.id = e.turn_id where c.id = ? order by e.place limit ?",
            (max(number, 0) + 1, conversation_id, limit),
        )
        found: list[Committed] = []
        size = 0
        for turn, parent, seq, n, at, kind, body, version in rows:
            row = Recorded(seq, n, at, decode(kind, body, version))
            found.append(Committed(conversation_id, turn, parent, (row,)))
            size += len(body)
            if size >= PAGE_BYTES:
                break
        rows.close()  # a read that is left open holds back the journal's checkpoints
        return found

    def tokens_since(self, moment: float) -> int:
        """What all replies since then have used, by the providers' own figures. Read once, counted from there on."""
        if self._spent is None or self._spent[0] != moment:
            rows = self._reader.execute(
                f"select e.kind, e.body, e.version from conversations c join {OF_CONVERSATION}"  # noqa: S608
                " where c.updated_at >= ?1 - 86400 and +e.kind = 'model_replied' and e.at >= ?1",  # +: not by kind
                (moment,),
            )
            self._spent = (moment, sum(tokens_of(decode(*row)) for row in rows) - self._logs.tokens)
        return self._spent[1] + self._logs.tokens

    def count_tokens(self, used: int) -> None:
        """Of what has no turn, such as embeddings: counted until the day or the process ends."""
        self._logs.tokens += used

    def unknown_calls(self, conversation_id: str) -> list[UnknownCall]:
        """Calls, as they were sent, whose outcome is unknown."""
        if conversation_id not in self._logs.doubtful:
            return []
        turns = self._reader.execute(
            "select t.id from turns t join conversations c on c.n = t.conversation where c.id = ? and t.doubtful",
            (conversation_id,),
        )
        found: list[UnknownCall] = []
        for (turn_id,) in turns.fetchall():
            view = fold([row.event for row in self._logs.read(turn_id)])
            for call in view.calls:
                if call.finished and call.finished.state == "unknown":
                    found.append(UnknownCall(as_decided(call), view.started.settings.toolset))
        return found

    def outside_log(self, conversation_id: str) -> list[Event]:
        """The first turn that holds text from outside, which stays in later prompts too: a result is marked as such,
        the provider searched the web, a caller brought results of its own, or a resource came with a message. Results
        of the first edition are marked more sparingly; there, each call of a server's tool counts. Ids of servers
        begin with an s, and nothing else that runs tools does."""
        found = self._reader.execute(
            f"select e.turn_id from conversations c join {OF_CONVERSATION}"  # noqa: S608
            " where c.id = ? and ((e.kind = 'tool_finished' and instr(e.body, '\"untrusted\":true'))"
            " or (e.kind = 'call_judged' and instr(e.body, '\"server\":\"s') and not instr(e.body, '\"step\":')"
            ' and not instr(e.body, \'"verdict":"refuse"\'))'
            " or (e.kind = 'model_replied' and instr(e.body, '\"sources\":[{'))"
            " or (e.kind = 'turn_started' and (instr(e.body, '\"role\":\"tool\"')"
            " or instr(e.body, '\"attached\":[{')))) limit 1",
            (conversation_id,),
        ).fetchone()
        return [row.event for row in self._logs.read(found[0])] if found else []

    def naming_events(self, conversation_id: str) -> list[Event]:
        """Events that may hold an address which the person wrote or a search found."""
        rows = self._reader.execute(
            f"select e.kind, e.body, e.version from conversations c join {OF_CONVERSATION}"  # noqa: S608
            " where c.id = ? and (e.kind in ('turn_started', 'call_judged')"
            " or (e.kind in ('tool_finished', 'model_replied') and instr(e.body, '\"sources\":[{')))",
            (conversation_id,),
        )
        return [decode(*row) for row in rows.fetchall()]

    def waits(self, turn_id: str, approvals: int, unknowns: int) -> "asyncio.Future[None]":
        """Record how much of a turn waits for a person: a cache for lists, computed from the log."""
        state = "awaiting_person" if approvals or unknowns else "running"

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "update turns set state = ?, approvals = ?, unknowns = ? where id = ? and state <> 'finished'",
                (state, approvals, unknowns, turn_id),
            )

        return self._writer.put(work)

    async def delete(self, id: str, *, untouched_since: float = math.inf) -> None:
        """With all its rows and files. Its turns must be stopped first. `Conflict` if it was used since that time."""

        def work(db: sqlite3.Connection) -> None:
            found = db.execute("select n, updated_at from conversations where id = ?", (id,)).fetchone()
            if not found:
                raise NotFound(f"There is no chat {id}.", hint=_LIST)
            n, updated_at = found
            if updated_at >= untouched_since:
                raise Conflict("This chat was used in the meantime.", hint="It is kept.")
            db.execute("delete from words where conversation = ?", (id,))
            db.execute("insert into words(words) values('optimize')")  # else the text stays in old index segments
            db.execute("delete from results where conversation = ?", (id,))
            db.execute("delete from documents where parent = ?", (id,))
            db.execute("delete from events where place between ? and ?", (position_of(n, 0), position_of(n, LAST)))
            db.execute("delete from turns where conversation = ?", (n,))
            db.execute("delete from conversations where id = ?", (id,))
            self._logs.forget()

        await self._writer.put(work, durable=True, then=lambda _: self._changed(id))
        await asyncio.to_thread(self._drop_blobs, id, None)

    async def add_result(self, conversation_id: str, call_id: str, content: str) -> tuple[str, int]:
        """Give a call its result, in place of the note that none was recorded. Only in the newest turn, and only if
        that was added by hand or imported: so no prompt has shown the note yet. Returns the turn and the position."""

        def work(db: sqlite3.Connection) -> tuple[str, int]:
            row = db.execute(
                "select t.id, e.place, e.kind, e.body, e.version from conversations c"
                " join turns t on t.id = (select max(id) from turns where conversation = c.n)"
                " join events e on e.place = t.first_place where c.id = ?",
                (conversation_id,),
            ).fetchone()
            started = decode(*row[2:]) if row else None
            part = _open_result(started, call_id) if isinstance(started, TurnStarted) else None
            if not isinstance(started, TurnStarted) or part is None:
                raise BadInput(
                    "tool_call_id: the newest message has no call with this id that lacks its result.",
                    hint="Add the assistant message with its `tool_calls` first, then each result, then the next one.",
                    detail={"path": "tool_call_id"},
                )
            opening = list(started.opening)
            opening[part] = replace(opening[part], content=content)
            made = encode(replace(started, opening=tuple(opening)))
            db.execute("update events set body = ?, version = ? where place = ?", (made, VERSION, row[1]))
            db.execute("update turns set revision = revision + 1, pending = 1 where id = ?", (row[0],))
            db.execute("update conversations set updated_at = ? where id = ?", (time.time(), conversation_id))
            db.execute("delete from words where turn_id = ?", (row[0],))
            return row[0], part

        def changed(found: tuple[str, int]) -> tuple[str, int]:
            self._changed(conversation_id)
            return found

        return await self._writer.put(work, durable=True, then=changed)

    async def blank(self, turn_id: str, seq: int, part: int = 0) -> None:
        """Delete one message: its text is removed from the log. A call and its results are deleted together."""
        turn = self.turn(turn_id)
        if turn.state != "finished":
            raise Conflict("This turn is still under way.", hint="Stop it first, then delete the message.")

        def work(db: sqlite3.Connection) -> list[str]:
            rows = db.execute(f"select e.place, e.seq, e.kind, e.body, e.version {OF_TURN}", (turn_id,)).fetchall()
            positions = {seq: position for position, seq, *_ in rows}
            log = [(seq, decode(kind, body, version)) for _, seq, kind, body, version in rows]
            gone = _blanked(log, seq, part)
            for number, event in gone:
                db.execute("update events set body = ? where place = ?", (encode(event), positions[number]))
            results = _results(log, {number for number, _ in gone})
            db.executemany("delete from results where id = ?", [(id,) for id in results])
            db.execute("update turns set revision = revision + 1, pending = 1 where id = ?", (turn_id,))
            db.execute("delete from words where turn_id = ?", (turn_id,))
            db.execute("insert into words(words) values('optimize')")
            return results

        def forgotten(results: list[str]) -> list[str]:
            """As the deletion is acknowledged, also if its waiter is gone: prompts are made from what is cached."""
            self._changed(turn.conversation_id)
            return results

        results = await self._writer.put(work, durable=True, then=forgotten)
        if results:
            await asyncio.to_thread(self._drop_blobs, turn.conversation_id, results)


def _blanked(log: Sequence[tuple[int, Event]], seq: int, part: int) -> list[tuple[int, Event]]:
    """The events to write anew so that the message at this position is gone."""
    target = next((event for number, event in log if number == seq), None)
    match target:
        case TurnStarted(opening=opening) if part < len(opening) and part not in target.blanked:
            gone_with = _belonging(opening, part)
            kept = tuple(
                ChatMessage(message.role, "") if index in gone_with else message
                for index, message in enumerate(opening)
            )
            blanked = tuple(sorted({*target.blanked, *gone_with}))
            settings = replace(target.settings, query="")
            return [(seq, replace(target, opening=kept, blanked=blanked, settings=settings))]
        case ModelFailed(partial=partial) if partial:
            return [(seq, replace(target, partial=""))]
        case ModelReplied(blanked=False):
            reply = target
        case ToolFinished(blanked=False, call_id=call_id):
            reply = next(e for _, e in log if isinstance(e, ModelReplied) and any(c.id == call_id for c in e.calls))
        case _:
            raise NotFound("There is no such message in this turn; it may be deleted already.", hint=NO_TURN)
    calls = {call.id for call in reply.calls}
    gone: list[tuple[int, Event]] = []
    for number, event in log:
        if event is reply:
            bare = tuple(replace(call, arguments="{}", raw="", extra="") for call in reply.calls)
            gone.append((number, replace(reply, text="", reasoning="", raw="", calls=bare, sources=(), blanked=True)))
        elif isinstance(event, ToolFinished) and event.call_id in calls:
            gone.append((number, replace(event, output=ToolOutput(""), blanked=True)))
        elif isinstance(event, CallDecided) and event.call_id in calls:
            gone.append((number, replace(event, arguments="", reason="")))
    return gone


def _open_result(started: TurnStarted, call_id: str) -> int | None:
    """Where the note stands that a call has no result. The call is named by our id, or by the one it came with."""
    if started.origin != "added" or not call_id:
        return None
    ids = {call.id for message in started.opening for call in message.calls if call_id in (call.id, call.wire_id)}
    wanted = (
        part
        for part, message in enumerate(started.opening)
        if message.call_id in ids and message.content == NO_RESULT and part not in started.blanked
    )
    return next(wanted, None)


def _results(log: Sequence[tuple[int, Event]], seqs: set[int]) -> list[str]:
    """What was kept in full of the results at these positions."""
    return [
        event.output.result_id
        for seq, event in log
        if seq in seqs and isinstance(event, ToolFinished) and event.output.result_id
    ]


def _belonging(opening: Sequence[ChatMessage], part: int) -> set[int]:
    """The index of a message and, where it makes calls or answers one, those of all messages of the same calls."""
    call_id = opening[part].call_id
    makers = [index for index, message in enumerate(opening) if any(call.id == call_id for call in message.calls)]
    maker = makers[0] if call_id and makers else part
    calls = {call.id for call in opening[maker].calls}
    return {maker, part, *(index for index, message in enumerate(opening) if message.call_id in calls)}


def _body(conversation: ConversationRow) -> bytes:
    fields = msgspec.to_builtins(conversation)
    return msgspec.json.encode({name: value for name, value in fields.items() if name not in _PLAIN})


def _listed(row: Sequence[Any]) -> Listed:
    return Listed(_conversation(row[:6]), row[6] or "", row[7] or "", row[8], row[9], row[10] or "")


def _conversation(row: Sequence[Any]) -> ConversationRow:
    plain, body = row[:5], row[5]
    fields = msgspec.json.decode(body)
    return msgspec.convert({**dict(zip(_PLAIN, plain, strict=True)), **fields}, ConversationRow, strict=False)
