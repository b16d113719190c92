"""`windlass audit`."""

from typing import Annotated

import typer

from windlass.api import schemas
from windlass.cli.output import as_json, table
from windlass.cli.session import Connected, opened

PAGE = 200


def audit(
    ctx: typer.Context,
    since: Annotated[
        str, typer.Option("--from", help="Not before this time, such as 2026-12-31 or with T18:00Z.")
    ] = "",
    until: Annotated[str, typer.Option("--to", help="Before this time.")] = "",
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=100_000)] = 50,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List who confirmed, approved, denied and changed what, newest first."""
    with opened(ctx) as session:
        found = _entries(session, since, until, limit)
    if json:
        return as_json(found)
    rows = ((one.at[:19], one.by, one.action, one.kind, one.target, one.summary) for one in found)
    table(("time (UTC)", "by", "action", "of", "which", "summary"), rows, "Nothing was changed in that time.")


def _entries(session: Connected, since: str, until: str, limit: int) -> list[schemas.AuditEntry]:
    found: list[schemas.AuditEntry] = []
    cursor: str | None = ""
    while cursor is not None and len(found) < limit:
        most = min(PAGE, limit - len(found))
        page = session.run(session.w.audit.list(since=since, until=until, limit=most, cursor=cursor))
        found, cursor = found + page.entries, page.next_cursor
    return found
