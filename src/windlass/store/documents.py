"""Plain rows: servers, providers, personas, rules, context items, enabled tools. One table for all of them; each kind
has its own type and is kept as JSON. Only turns are event-sourced."""

import asyncio
import sqlite3
import time
from typing import Generic, TypeVar

import msgspec

from windlass.store.writer import Writer

T = TypeVar("T")


class Documents(Generic[T]):
    """All rows of one kind. Those with a parent go when the parent goes. `parents` are those that have or had any:
    most conversations have none, and every turn asks."""

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

    def everything(self) -> list[T]:
        """All rows of the kind, whatever their parent."""
        rows = self._reader.execute("select body from documents where kind = ? order by at, id", (self._kind,))
        return [self._decoder.decode(body) for (body,) in rows]

    def put(self, id: str, row: T, *, parent: str = "") -> "asyncio.Future[None]":
        body = msgspec.json.encode(row)
        self._parents.add(parent)

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "insert into documents values(?, ?, ?, ?, ?)"
                " on conflict(kind, id) do update set parent = excluded.parent, body = excluded.body",
                (self._kind, id, parent, body, time.time()),
            )

        return self._writer.put(work, durable=True)

    def delete(self, id: str) -> "asyncio.Future[bool]":
        def work(db: sqlite3.Connection) -> bool:
            db.execute("delete from documents where parent = ?", (id,))
            return db.execute("delete from documents where kind = ? and id = ?", (self._kind, id)).rowcount > 0

        return self._writer.put(work, durable=True)
