"""`windlass models`."""

from typing import Annotated

import typer

from windlass.api import schemas
from windlass.cli.options import FAILED
from windlass.cli.output import as_json, table
from windlass.cli.session import Connected, opened
from windlass.core.errors import NotFound, WindlassError

models = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@models.command("list")
def list_(ctx: typer.Context, json: Json = False) -> None:
    """List providers and the models they offer."""
    with opened(ctx) as session:
        providers = session.run(session.w.providers.list())
        found = [(provider, *_models(session, provider)) for provider in providers]
    if json:
        return as_json([{"provider": provider, "models": names, "problem": why} for provider, names, why in found])
    rows = (
        (provider.id, provider.name, name, "default" if provider.default and name == provider.model else why)
        for provider, names, why in found
        for name in names or [provider.model or "?"]
    )
    table(("provider", "", "model", ""), rows, "No providers yet.")


@models.command()
def test(
    ctx: typer.Context,
    provider: Annotated[str, typer.Argument(help="The provider's id or name; all if omitted.")] = "",
    json: Json = False,
) -> None:
    """Test what each model can do: answer, stream, call tools. Exit code 1 when one does not work."""
    with opened(ctx) as session:
        wanted = [one for one in session.run(session.w.providers.list()) if provider in ("", one.id, one.name)]
        if not wanted:
            raise NotFound(f"There is no provider {provider!r}.", hint="`windlass models list` shows all.")
        found = [(one, session.run(session.w.providers.test(one.id))) for one in wanted]
    if json:
        as_json([{"provider": one.id, "test": tested} for one, tested in found])
    else:
        rows = ((one.name, tested.model, *row) for one, tested in found for row in _findings(tested))
        table(("provider", "model", "question", "answer", ""), rows, "No results.")
    raise typer.Exit(0 if all(tested.ok for _, tested in found) else FAILED)


def _findings(tested: schemas.ProviderTest) -> list[tuple[str, str, str]]:
    if not tested.findings:
        return [("answers", "yes" if tested.ok else "no", tested.message)]
    return [(one.question, one.answer, one.detail) for one in tested.findings]


def _models(session: Connected, provider: schemas.Provider) -> tuple[list[str], str]:
    try:
        return [model.id for model in session.run(session.w.providers.models(provider.id))], ""
    except WindlassError as error:
        return [], error.message
