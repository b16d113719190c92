"""Everything Windlass keeps, in one SQLite file in WAL mode: read and written on the loop, flushed in a thread."""

import asyncio
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Generic, Literal, TypeVar

import msgspec

from windlass.core.errors import NotFound, Unavailable
from windlass.core.events import Committed
from windlass.core.ids import ALPHABET, Clock, new_id
from windlass.core.messages import Toolset, ToolSpec
from windlass.core.prompt import searchable_text
from windlass.core.values import value_object
from windlass.store.audit import AuditRows
from windlass.store.codec import decode
from windlass.store.conversations import ConversationStore
from windlass.store.fence import KeyedFence
from windlass.store.files import check_space, close_to_others, make_private, private_folder, private_key
from windlass.store.history import PastTurns
from windlass.store.migrations import migrate
from windlass.store.past_calls import PastCall, past_calls
from windlass.store.turnlog import OF_TURN, TurnLogs
from windlass.store.writer import Disk, Writer, connect

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

T = TypeVar("T")
Durability = Literal["full", "normal"]
_TO_BASE_32 = str.maketrans(ALPHABET, "0123456789abcdefghijklmnopqrstuv")
INDEX_S = 0.01  # how long turns are indexed before others get their turn
IN_DATABASE = 64 * 1024  # larger results are files
_KNOWN = "select 1 from conversations where id = ?"
MOST_TOOLSETS = 256  # in memory; callers of /v1 may bring another one with every request


@value_object
class KeptResult:
    """A tool result, or a piece of one, as the tool gave it."""

    id: str
    conversation_id: str
    turn_id: str
    mime: str
    size: int
    offset: int
    body: bytes


class Store:
    """`publish` is called on the loop for every commit, in order."""

    conversations: ConversationStore
    logs: TurnLogs
    history: PastTurns
    audit: AuditRows

    def __init__(
        self, folder: Path, *, durability: Durability = "full", publish: Callable[[Committed], None] = lambda _: None
    ) -> None:
        self._folder = folder
        # Its text was fenced by a constant tag: it had no key.
        self.of_first_edition = (folder / "windlass.db").exists() and not (folder / "fence.key").exists()
        self._lock = _locked(folder)
        try:
            connection = self._connection = _opened(folder / "windlass.db")
        except BaseException:  # of any kind, and raised again: the folder must be free for another process
            self._lock.close()
            raise
        self._disk = Disk(folder / "windlass.db")
        self._writer = Writer(
            connection,
            self._disk,
            durability == "full",
            _index_next,
            lost=lambda: self.logs.forget(),
            alone=lambda: self.logs.driven <= 1,
        )
        self.history = PastTurns(connection, KeyedFence(private_key(folder / "fence.key")))
        self.logs = TurnLogs(self._writer, connection, publish, self.history.know)
        self.audit = AuditRows(self._writer, connection)
        self.conversations = ConversationStore(
            self._writer,
            connection,
            self.logs,
            self.history.forget,
            self._drop_blobs,
            lambda: connect(folder / "windlass.db"),
        )
        self._toolsets: dict[str, Toolset] = {}
        self._parents: dict[str, set[str]] = {}
        self._being_kept: set[str] = set()  # results whose files may be there before their rows

    async def close(self) -> None:
        await self._writer.close()
        self._lock.close()

    def abandon(self) -> None:
        """Close without finishing anything, as the end of the process would; for tests of recovery."""
        self._writer.abandon()
        self._connection.close()
        self._lock.close()

    def documents(self, kind: str, row_type: type[T]) -> "Documents[T]":
        if kind not in self._parents:
            rows = self._connection.execute("select distinct parent from documents where kind = ?", (kind,))
            self._parents[kind] = {parent for (parent,) in rows}
        return Documents(self._writer, self._connection, kind, row_type, self._parents[kind])

    def toolset(self, hash: str) -> Toolset:
        """A toolset that some turn froze; the empty one has no hash."""
        if not hash:
            return Toolset()
        if hash not in self._toolsets:
            found = self._connection.execute("select body from toolsets where hash = ?", (hash,)).fetchone()
            if not found:
                hint = "The database has lost it. Send the message again: a new turn writes its tools anew."
                raise NotFound(f"The tools of this turn, {hash}, are missing.", hint=hint)
            self._remember(Toolset(hash, msgspec.json.decode(found[0], type=tuple[ToolSpec, ...])))
        return self._toolsets[hash]

    def keep_toolset(self, toolset: Toolset) -> None:
        """Written or queued ahead of the turn that names it, which is refused if this fails."""
        if not toolset.hash or toolset.hash in self._toolsets:
            return
        self._remember(toolset)
        body = msgspec.json.encode(toolset.tools)

        def work(db: sqlite3.Connection) -> None:
            db.execute("insert or ignore into toolsets values(?, ?)", (toolset.hash, body))

        def unless_kept(done: "asyncio.Future[None]") -> None:
            if done.exception():  # else it would never be written, and turns that name it lost at the next start
                self._toolsets.pop(toolset.hash, None)

        kept = self._writer.put(work)
        if kept.done():
            unless_kept(kept)
        else:
            kept.add_done_callback(unless_kept)

    async def keep_result(self, conversation_id: str, turn_id: str, body: bytes, mime: str) -> str:
        """`NotFound` when the conversation was deleted meanwhile: nothing of it may come back."""
        result_id = new_id("result")
        inside = body if len(body) <= IN_DATABASE else None

        def work(db: sqlite3.Connection) -> None:
            if not db.execute(_KNOWN, (conversation_id,)).fetchone():
                hint = "GET /conversations shows those that are there."
                raise NotFound(f"There is no chat {conversation_id}.", hint=hint)
            db.execute(
                "insert into results values(?, ?, ?, ?, ?, ?)",
                (result_id, conversation_id, turn_id, mime, len(body), inside),
            )

        self._being_kept.add(result_id)
        try:
            if inside is None:
                await asyncio.to_thread(self._write_blob, conversation_id, result_id, body)
            await self._writer.put(work)
        finally:
            self._being_kept.discard(result_id)
        return result_id

    async def result(
        self, result_id: str, offset: int = 0, length: int | None = None, *, within: str = ""
    ) -> KeptResult:
        """With `within`, a result of another conversation is not found."""
        found = self._connection.execute(
            "select conversation, turn_id, mime, size, body from results where id = ?", (result_id,)
        ).fetchone()
        if not found or within not in ("", found[0]):
            raise NotFound(f"There is no result {result_id}.", hint="GET /turns/{id} shows the results of its calls.")
        conversation_id, turn_id, mime, size, body = found
        end = size if length is None else min(size, offset + length)
        if body is None:
            piece = await asyncio.to_thread(self._read_blob, conversation_id, result_id, offset, max(0, end - offset))
        else:
            piece = body[offset:end]
        return KeptResult(result_id, conversation_id, turn_id, mime, size, offset, piece)

    async def past_calls(self, most: int, wanted: Callable[[ToolSpec], bool] = lambda spec: True) -> list[PastCall]:
        """The newest calls of all turns, read in a thread: there may be many to look through."""
        return await asyncio.to_thread(past_calls, self._folder / "windlass.db", most, wanted)

    def backup(self, to: Path) -> None:
        make_private(to)
        source, copy = connect(self._folder / "windlass.db"), sqlite3.connect(to)
        try:
            source.backup(copy)
        finally:
            source.close()
            copy.close()

    async def empty_journal(self) -> None:
        """Fold the write-ahead log back into the database, so that what was deleted does not stay in it. It is done
        before the store is closed, also if the caller is cancelled."""
        emptied = asyncio.get_running_loop().create_future()

        def then(_: object, error: Exception | None) -> None:
            if not emptied.done():
                emptied.set_exception(error) if error else emptied.set_result(None)

        self._disk.do(self._disk.empty_journal, then)
        await emptied

    async def sweep(self) -> None:
        """Delete files of conversations and results that are gone: the process may have ended before they were."""
        for name, results in (await asyncio.to_thread(_files, self._folder / "blobs")).items():
            known = self._connection.execute(_KNOWN, (name,)).fetchone()
            gone = [result for result in results if not self._has_result(result)] if known else None
            await asyncio.to_thread(self._drop_blobs, name, gone)

    def _has_result(self, result_id: str) -> bool:
        known = "select 1 from results where id = ?"
        return result_id in self._being_kept or self._connection.execute(known, (result_id,)).fetchone() is not None

    def check(self) -> "asyncio.Future[None]":
        """Raise unless something can be written now; a write that changed nothing would not touch the disk. Jobs are
        committed in order, so every earlier job has landed or failed by then."""
        return self._writer.put(_write_the_same_again, durable=True)

    async def check_space(self) -> None:
        await asyncio.to_thread(check_space, self._folder)

    def _remember(self, toolset: Toolset) -> None:
        while len(self._toolsets) >= MOST_TOOLSETS:
            del self._toolsets[next(iter(self._toolsets))]
        self._toolsets[toolset.hash] = toolset

    def _drop_blobs(self, conversation_id: str, results: Sequence[str] | None) -> None:
        """Those named, or all of the conversation."""
        folder = self._folder / "blobs" / conversation_id
        if results is not None:
            for result_id in results:
                (folder / result_id).unlink(missing_ok=True)
        elif folder.is_dir():
            for file in folder.iterdir():
                file.unlink(missing_ok=True)
            with suppress(FileNotFoundError):  # a deletion and the sweep may meet
                folder.rmdir()

    def _write_blob(self, conversation_id: str, result_id: str, body: bytes) -> None:
        folder = self._folder / "blobs" / conversation_id
        private_folder(folder.parent)
        private_folder(folder)
        with os.fdopen(_private(folder / result_id, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())

    def _read_blob(self, conversation_id: str, result_id: str, offset: int, length: int) -> bytes:
        with (self._folder / "blobs" / conversation_id / result_id).open("rb") as file:
            file.seek(offset)
            return file.read(length)

    async def index(self) -> None:
        """Make every finished turn searchable now, instead of in quiet moments by chores. A few at a time: an import
        may have left thousands."""

        def work(db: sqlite3.Connection) -> bool:
            due = time.monotonic() + INDEX_S
            while more := _index_one(db):
                if time.monotonic() > due:
                    break
            return more

        more = True
        while more:
            more = await self._writer.put(work)
            await asyncio.sleep(0)  # what is committed at once is awaited without a pause


def _files(folders: Path) -> dict[str, list[str]]:
    """By the conversations they belong to."""
    return {Path(folder).name: files for folder, _, files in os.walk(folders) if folder != str(folders)}


def _index_next(db: sqlite3.Connection) -> bool:
    db.execute("begin immediate")
    more = _index_one(db)
    db.execute("commit")
    return more


def _index_one(db: sqlite3.Connection) -> bool:
    """Make one finished turn's text searchable. False when there is none left."""
    found = db.execute(
        "select t.id, c.id, c.hidden from turns t join conversations c on c.n = t.conversation"
        " where t.pending and t.state = 'finished' limit 1"
    ).fetchone()
    if not found:
        return False
    turn_id, conversation_id, hidden = found
    rows = db.execute(f"select e.kind, e.body, e.version {OF_TURN}", (turn_id,)).fetchall()
    text = searchable_text([decode(*row) for row in rows])
    if not hidden:
        db.execute("insert into words values(?, ?, ?)", (text, turn_id, conversation_id))
    db.execute("update turns set pending = 0 where id = ?", (turn_id,))
    return True


def _private(path: Path, flags: int) -> int:
    descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0), 0o600)
    close_to_others(path)
    return descriptor


def _locked(folder: Path) -> IO[str]:
    """The folder's lock file, to be held for as long as the folder is used. One Windlass per data folder: the lock is
    the operating system's and goes when the process goes, in any way."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.fdopen(_private(folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_APPEND), "a")
    except OSError as error:
        raise Unavailable(
            f"The data folder {folder} cannot be used: {error.strerror}.",
            hint="Make it writable for the user who runs Windlass, or set WINDLASS_HOME to another folder.",
            code="data_folder_unusable",
        ) from None
    try:
        _take_lock(file)
    except OSError:
        file.close()
        raise Unavailable(
            f"Another Windlass is using {folder}.",
            hint="Stop it, talk to it over HTTP, or set WINDLASS_HOME to another folder.",
            code="data_folder_in_use",
        ) from None
    return file


def _take_lock(file: IO[str]) -> None:
    if sys.platform == "win32":
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _opened(path: Path) -> sqlite3.Connection:
    make_private(path)
    for folder, _, files in os.walk(path.parent / "blobs"):  # an earlier edition left them to the umask
        close_to_others(Path(folder))
        for file in files:
            close_to_others(Path(folder) / file)
    connection = connect(path)
    try:
        migrate(connection, path)
        _start_ids_after(connection)
    except BaseException:  # nobody else would close it
        connection.close()
        raise
    return connection


def _start_ids_after(connection: sqlite3.Connection) -> None:
    """The newest turn is the one with the largest id, also when the clock was set back since the last start."""
    (last,) = connection.execute("select max(id) from turns").fetchone()
    if last:
        Clock.last = max(Clock.last, int(last.partition("-")[2].translate(_TO_BASE_32), 32))


def _write_the_same_again(db: sqlite3.Connection) -> None:
    (version,) = db.execute("pragma user_version").fetchone()
    db.execute(f"pragma user_version = {version:d}")


@value_object
class Document(Generic[T]):
    """A row and what is known of it. `at` is when it was first put."""

    id: str
    parent: str
    at: float
    row: T


class Documents(Generic[T]):
    """Plain rows of one kind, as JSON; only turns are event-sourced. Those with a parent go when the parent goes.
    `parents` are those that have or had any: most conversations have none, and every turn asks."""

    def __init__(
        self, writer: Writer, reader: sqlite3.Connection, kind: str, row_type: type[T], parents: set[str]
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._kind = kind
        self._parents = parents
        self._decoder = msgspec.json.Decoder(row_type)

    def get(self, id: str) -> T | None:
        found = self._reader.execute(
            "select body from documents where kind = ? and id = ?", (self._kind, id)
        ).fetchone()
        return self._decoder.decode(found[0]) if found else None

    def all(self, parent: str = "") -> list[T]:
        """In the order they were first put."""
        if parent not in self._parents:
            return []
        rows = self._reader.execute(
            "select body from documents where kind = ? and parent = ? order by at, id", (self._kind, parent)
        )
        return [self._decoder.decode(body) for (body,) in rows]

    def kept(self, parent: str | None = None, most: int = -1) -> list["Document[T]"]:
        """The rows with what is known of them, newest first: those of a parent, or all."""
        rows = self._reader.execute(
            "select id, parent, at, body from documents where kind = ?1 and (?2 is null or parent = ?2)"
            " order by at desc, id desc limit ?3",
            (self._kind, parent, most),
        )
        return [Document(id, of, at, self._decoder.decode(body)) for id, of, at, body in rows]

    def everything(self) -> list[T]:
        """All rows of the kind, whatever their parent."""
        rows = self._reader.execute("select body from documents where kind = ? order by at, id", (self._kind,))
        return [self._decoder.decode(body) for (body,) in rows]

    def put(self, id: str, row: T, *, parent: str = "") -> "asyncio.Future[None]":
        return self.put_all([(id, row, parent)])

    def put_all(self, rows: Sequence[tuple[str, T, str]]) -> "asyncio.Future[None]":
        """Each with its id and its parent, all in one commit."""
        now = time.time()
        written = [(self._kind, id, parent, msgspec.json.encode(row), now) for id, row, parent in rows]
        self._parents.update(parent for _, _, parent in rows)

        def work(db: sqlite3.Connection) -> None:
            db.executemany(
                "insert into documents values(?, ?, ?, ?, ?)"
                " on conflict(kind, id) do update set parent = excluded.parent, body = excluded.body",
                written,
            )

        return self._writer.put(work, durable=True)

    def delete(self, id: str) -> "asyncio.Future[bool]":
        def work(db: sqlite3.Connection) -> bool:
            db.execute("delete from documents where parent = ?", (id,))
            return db.execute("delete from documents where kind = ? and id = ?", (self._kind, id)).rowcount > 0

        return self._writer.put(work, durable=True)
