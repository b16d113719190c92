"""The options before every verb, and the exit codes. `--help` loads this module, so it imports next to nothing."""

from pathlib import Path

import typer

from windlass.core.values import value_object

ANSWERED, FAILED, USAGE, STOPPED, LIMIT, LEFT = 0, 1, 2, 3, 4, 130


@value_object
class Options:
    url: str = ""
    config: Path | None = None
    debug: bool = False
    own_process: bool = False  # it may be hardened: no other program runs in it


def options_of(ctx: typer.Context) -> Options:
    found = ctx.find_object(Options)
    return found or Options()
