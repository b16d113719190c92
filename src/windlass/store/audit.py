"""Who changed what: rows that are only ever added. They are dropped when they are a year old, or the oldest of too
many."""

import asyncio
import sqlite3
from math import inf

from windlass.core.values import value_object
from windlass.store.writer import Writer

KEEP_S = 365 * 24 * 3600.0
MOST_ROWS = 100_000
_NEWEST = 1 << 62


@value_object
class AuditRow:
    """`kind` and `action` say what was done, `target` to what. Nothing of it is a secret."""

    at: float
    by: str
    kind: str
    action: str
    target: str
    summary: str
    number: int = 0


class AuditRows:
    def __init__(self, writer: Writer, reader: sqlite3.Connection) -> None:
        self._writer = writer
        self._reader = reader

    def add(self, row: AuditRow) -> "asyncio.Future[None]":
        values = (row.at, row.by, row.kind, row.action, row.target, row.summary)

        def work(db: sqlite3.Connection) -> None:
            db.execute("insert into audit values(null, ?, ?, ?, ?, ?, ?)", values)

        return self._writer.put(work, durable=True)

    def page(self, most: int, *, before: int = 0, since: float = 0.0, until: float = inf) -> list[AuditRow]:
        """Newest first; `before` is the number of the last row of the page before."""
        rows = self._reader.execute(
            "select at, actor, kind, action, target, summary, number from audit"
            " where number < ? and at >= ? and at < ? order by number desc limit ?",
            (before or _NEWEST, since, until, most),
        )
        return [AuditRow(*row) for row in rows]

    def drop_old(self, now: float, *, most: int = MOST_ROWS) -> "asyncio.Future[None]":
        def work(db: sqlite3.Connection) -> None:
            db.execute("delete from audit where at < ?", (now - KEEP_S,))
            db.execute("delete from audit where number <= (select max(number) from audit) - ?", (most,))

        return self._writer.put(work)
