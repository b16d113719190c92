"""Who confirmed, approved, denied and changed what. The route table says which routes leave an entry, and each of their
methods is wrapped here once, so that no call site can forget it: not over HTTP, not in process."""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import Any, ParamSpec, TypeVar

from windlass.api import routes, schemas
from windlass.api.route import Route, serves
from windlass.core.errors import BadInput, WindlassError
from windlass.services.audit_text import entry_of
from windlass.services.timestamps import seconds
from windlass.store import AuditRow, Store
from windlass.turns.views import iso

P = ParamSpec("P")
R = TypeVar("R")
logger = logging.getLogger("windlass")


class Audit:
    """`name_of` tells what a thing is called, by its kind and id. It is asked before the change: afterwards the thing
    may be gone."""

    def __init__(self, store: Store, name_of: Callable[[str, str], str]) -> None:
        self._rows = store.audit
        self._name_of = name_of

    @serves(routes.audit.all)
    async def all(self, query: schemas.AuditQuery) -> schemas.AuditList:
        since = seconds(query.from_, "from") if query.from_ else 0.0
        until = seconds(query.to, "to") if query.to else inf
        rows = self._rows.page(query.limit + 1, before=_number(query.cursor), since=since, until=until)
        shown = [_shown(row) for row in rows[: query.limit]]
        return schemas.AuditList(shown, len(shown), shown[-1].id if len(rows) > query.limit else None)

    def recording(self, route: Route[P, R], method: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        """The method, which leaves an entry when it has succeeded."""

        async def recorded(*arguments: P.args, **named: P.kwargs) -> R:
            name = self._name(route, arguments)
            answer = await method(*arguments, **named)
            await self.add(route, arguments, answer, name)
            return answer

        return recorded

    async def add(self, route: Route[..., Any], arguments: Sequence[Any], answer: object, name: str = "") -> None:
        if entry := entry_of(route, arguments, answer, name):
            await self.write(entry)

    async def note(self, by: str, kind: str, action: str, summary: str) -> None:
        """For what no request asked for."""
        await self.write(AuditRow(time.time(), by, kind, action, "", summary))

    async def write(self, entry: AuditRow) -> None:
        """The change has been made by now, so that a full disk does not fail it: then the log alone has the entry."""
        logger.info("%s: %s %s %s %s", entry.by, entry.action, entry.kind, entry.target, entry.summary)
        try:
            await self._rows.add(entry)
        except WindlassError as error:
            logger.error("This change is missing in /audit: %s", error.message)

    def _name(self, route: Route[..., Any], arguments: Sequence[Any]) -> str:
        """Of what the path names first."""
        named = route.path.partition("{")[2].partition("}")[0].removesuffix("_id")
        return self._name_of(named, arguments[0]) if named else ""


def _number(cursor: str) -> int:
    if cursor and not (cursor.isdecimal() and cursor.isascii() and len(cursor) < 19):
        raise BadInput("cursor: It is not from this list.", hint="Send `next_cursor` of the page before.")
    return int(cursor or 0)


def _shown(row: AuditRow) -> schemas.AuditEntry:
    return schemas.AuditEntry(str(row.number), iso(row.at), row.by, row.kind, row.action, row.target, row.summary)
