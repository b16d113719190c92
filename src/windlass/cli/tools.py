"""`windlass tools`."""

import json as jsonlib
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import typer

from windlass.api import schemas
from windlass.cli.files import saved_files
from windlass.cli.options import FAILED
from windlass.cli.output import as_json, clean, line, note, table
from windlass.cli.session import Connected, opened
from windlass.core.errors import BadInput, NotFound

tools = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@tools.command("list")
def list_(
    ctx: typer.Context,
    server: Annotated[str, typer.Argument(help="Only the tools of this server.")] = "",
    json: Json = False,
) -> None:
    """List the tools of running servers."""
    with opened(ctx) as session:
        found = _all(session, server)
    if json:
        return as_json([{"server": slug, **msgspec.to_builtins(tool)} for slug, tool in found])
    rows = (
        (f"{slug}.{tool.name}", tool.kind, _nature(tool), f"~{tool.tokens}", line(tool.description, 60))
        for slug, tool in found
    )
    table(
        ("tool", "kind", "claims", "tokens", "what it does"),
        rows,
        "No server is running. `windlass servers list` shows why.",
    )


@tools.command()
def call(
    ctx: typer.Context,
    tool: Annotated[str, typer.Argument(help="server.tool")],
    arguments: Annotated[list[str] | None, typer.Argument(help="key=value, or a JSON object.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Arguments as JSON from a file.")] = None,
    save: Annotated[
        Path | None, typer.Option("--save", help="Save its pictures, sounds and files in this folder.")
    ] = None,
    json: Json = False,
) -> None:
    """Call a tool without a model. Exit code 1 when it fails."""
    slug, name = _split(tool)
    with opened(ctx) as session:
        given = arguments_given(session, slug, name, arguments or [], file)
        result = session.run(session.w.servers.call_tool(slug, name, given, file_data=save is not None))
    saved = saved_files(save, name, result.files) if save else []
    if json:
        as_json(result)
    else:
        sys.stdout.write(clean(result.text) + "\n")
        note(f"{result.state}, {result.took_ms} ms" + (", shortened" if result.shortened else ""))
        if result.files and save is None:
            note(f"{len(result.files)} files; --save DIR saves those that are not links", "")
    for path in saved:
        note(f"Saved {path}", "")
    raise typer.Exit(0 if result.state == "ok" else FAILED)


@tools.command()
def kind(
    ctx: typer.Context,
    tool: Annotated[str, typer.Argument(help="server.tool")],
    kind: Annotated[
        Literal["reads", "changes", "sends", "guess"],
        typer.Argument(help="What it does; `guess` returns to Windlass's own guess."),
    ],
) -> None:
    """Correct whether a tool reads, changes or sends. Tools that read run; the others ask where nothing was set."""
    slug, name = _split(tool)
    with opened(ctx) as session:
        session.run(session.w.servers.correct_kind(slug, name, None if kind == "guess" else kind))
        now = next(one for one in session.run(session.w.servers.tools(slug)).tools if one.name == name)
    note(f"{tool}: {now.kind}", "")


def _split(tool: str) -> tuple[str, str]:
    slug, dot, name = tool.partition(".")
    if not dot:
        raise BadInput(f"{tool} is not server.tool.", hint="`windlass tools list` shows all names.")
    return slug, name


def arguments_given(
    session: Connected, server: str, tool: str, given: list[str], file: Path | None = None
) -> dict[str, Any]:
    """Arguments as a person types them, with the types of the tool's schema."""
    return _arguments(given, file, _schema(session, server, tool))


def _all(session: Connected, server: str) -> list[tuple[str, schemas.ServerTool]]:
    slugs = [server] if server else [one.slug for one in session.run(session.w.servers.list())]
    return [(slug, tool) for slug in slugs for tool in session.run(session.w.servers.tools(slug)).tools]


def _schema(session: Connected, server: str, name: str) -> dict[str, Any]:
    there = session.run(session.w.servers.tools(server))
    for tool in there.tools:
        if tool.name == name:
            return tool.input_schema
    names = ", ".join(tool.name for tool in there.tools) or f"none; the server is {there.status}"
    raise NotFound(f"The server {server} has no tool {name!r}.", hint=f"There are: {names}.")


def _arguments(given: list[str], file: Path | None, schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = _object(file.read_text(), str(file)) if file else {}
    properties = schema.get("properties", {})
    for argument in given:
        if argument.lstrip().startswith("{"):
            found |= _object(argument, "The argument")
            continue
        key, equals, value = argument.partition("=")
        if not equals:
            raise BadInput(f"{argument} is neither key=value nor a JSON object.", hint="Such as path=/docs.")
        found[key] = _typed(value, properties.get(key, {}))
    return found


def _object(text: str, what: str) -> dict[str, Any]:
    try:
        value = jsonlib.loads(text)
    except ValueError as error:
        raise BadInput(f"{what} is not valid JSON: {error}.", hint="Put it in single quotes.") from None
    if not isinstance(value, dict):
        raise BadInput(f"{what} is not a JSON object.", hint='Such as {"path": "/docs"}.')
    return value


def _typed(value: str, schema: object) -> object:
    """A value as the tool's schema expects it; a value that does not fit is passed on for the tool to reject."""
    if isinstance(schema, dict) and schema.get("type", "string") == "string":
        return value
    try:
        return jsonlib.loads(value)
    except ValueError:
        return value


def _nature(tool: schemas.ServerTool) -> str:
    hints = tool.annotations
    if hints.get("destructiveHint") is True and not hints.get("readOnlyHint"):
        return "destroys"
    return "reads" if hints.get("readOnlyHint") else ""
