"""`windlass models`."""

from typing import Annotated

import typer

from windlass.api import routes, schemas
from windlass.cli.options import FAILED
from windlass.cli.output import as_json, note, table
from windlass.cli.session import opened
from windlass.core.errors import NotFound

models = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
ROUTE = routes.providers.models
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@models.command("list")
def list_(ctx: typer.Context, json: Json = False) -> None:
    """List providers and the models they offer, with context size, price, images and tools where they are known."""
    with opened(ctx) as session:
        providers = session.run(session.w.providers.list())
        found = [(provider, session.run(session.w.transport.call(ROUTE, provider.id))) for provider in providers]
    if json:
        return as_json([_entry(provider, listed) for provider, listed in found])
    rows = [_row(provider, model) for provider, listed in found for model in listed.models]
    rows += [
        (provider.id, provider.name, provider.model or "?", *[""] * 6)
        for provider, listed in found
        if not listed.models
    ]
    table(
        ("provider", "", "model", "context", "price in/out", "images", "tools", "source", ""), rows, "No providers yet."
    )
    dates = {model.as_of for _, listed in found for model in listed.models if model.as_of}
    if dates:
        note(f"Prices in US dollars for a million tokens. Table as of {max(dates)}.")
    for provider, listed in found:
        if listed.error:
            known = " The last known list is shown." if listed.models else ""
            note(f"{provider.name}: {listed.error.message}{known}", "yellow")


def _entry(provider: schemas.Provider, listed: schemas.ModelList) -> dict[str, object]:
    names = [model.id for model in listed.models]
    problem = listed.error.message if listed.error else ""
    return {"provider": provider, "models": names, "problem": problem, "details": listed.models}


def _row(provider: schemas.Provider, model: schemas.ModelInfo) -> tuple[str, ...]:
    context = f"{model.context:,}" if model.context else ""
    prices = (model.input_price, model.output_price)
    price = " / ".join("?" if one is None else f"{one:g}" for one in prices) if prices != (None, None) else ""
    chosen = "default" if provider.default and model.id == provider.model else ""
    source = f"{model.source}, table" if model.from_table else model.source
    return provider.id, provider.name, model.id, context, price, _yes(model.images), _yes(model.tools), source, chosen


def _yes(known: bool | None) -> str:
    return "" if known is None else "yes" if known else "no"


@models.command()
def test(
    ctx: typer.Context,
    provider: Annotated[str, typer.Argument(help="The provider's id or name; all if omitted.")] = "",
    json: Json = False,
) -> None:
    """Test what each model can do. Exit code 1 when one does not answer, stream or call a tool."""
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
    failed = {one.name: tested.missing or ["answers"] for one, tested in found if not _works(one, tested)}
    for name, missing in failed.items():
        note(f"{name} does not do what is needed: {', '.join(missing)}.", "red")
    raise typer.Exit(FAILED if failed else 0)


def _works(provider: schemas.Provider, tested: schemas.ProviderTest) -> bool:
    """The demo model has fixed replies; that it answers is enough."""
    return tested.ok and (provider.demo or not tested.missing)


def _findings(tested: schemas.ProviderTest) -> list[tuple[str, str, str]]:
    if not tested.findings:
        return [("answers", "yes" if tested.ok else "no", tested.message)]
    return [(one.question, one.answer, one.detail) for one in tested.findings]
