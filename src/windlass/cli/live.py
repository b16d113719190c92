"""`windlass doctor --live`: a table of what the configured account can do, without secrets, to paste."""

from typing import NoReturn

import typer

from windlass.cli.options import FAILED
from windlass.cli.output import as_json, out, table
from windlass.cli.session import opened


def check_live(ctx: typer.Context, json: bool) -> NoReturn:
    with opened(ctx) as session:
        default = next(one for one in session.run(session.w.providers.list()) if one.default)
        report = session.run(session.w.providers.check(default.id))
    if json:
        as_json(report)
    else:
        title = (
            f"Windlass {report.version}, {report.model} at {report.address}, {report.at}, {report.requests} requests"
        )
        out.print(title)
        rows = ((row.check, row.result, f"{row.took_ms} ms", row.detail) for row in report.rows)
        table(("check", "result", "time", "detail"), rows, "Nothing was checked.")
    raise typer.Exit(0 if report.ok else FAILED)
