"""`windlass search`."""

from typing import Annotated

import typer

from windlass.cli.options import FAILED
from windlass.cli.output import as_json, line, note
from windlass.cli.session import opened

search = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@search.callback()
def _group() -> None:
    """Web search."""


@search.command()
def test(
    ctx: typer.Context,
    text: Annotated[list[str], typer.Argument(help="What to search for.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Try every backend that `//` may use, in order. Exit code 1 when none works."""
    with opened(ctx) as session:
        trials = session.run(session.w.search.test(" ".join(text)))
    if json:
        as_json(trials)
    elif not trials:
        note("Web search is off, or no backend is configured. Set web_search in windlass.toml.", "red")
    for trial in trials if not json else ():
        note(f"{'✓' if trial.works else '✗'} {trial.backend}: {trial.told}", "" if trial.works else "red")
        for hit in trial.hits:
            note(f"    {line(hit.title, 70)}  {hit.url}")
    raise typer.Exit(0 if any(trial.works for trial in trials) else FAILED)
