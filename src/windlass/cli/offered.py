"""`windlass servers resources|read|prompts|prompt`: what servers offer besides tools."""

import sys
from typing import Annotated

import typer

from windlass.api import schemas
from windlass.cli.output import as_json, clean, line, note, table
from windlass.cli.session import opened
from windlass.core.errors import BadInput

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Named = Annotated[str, typer.Argument(help="Slug or id.")]


def resources(
    ctx: typer.Context,
    server: Named,
    query: Annotated[str, typer.Argument(help="Words that address, name or description hold.")] = "",
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = 200,
    json: Json = False,
) -> None:
    """List the resources of a server, and templates of their addresses."""
    with opened(ctx) as session:
        found = session.run(session.w.servers.resources(server, query, limit))
        templates = [] if query else session.run(session.w.servers.templates(server)).templates
    if json:
        return as_json({"resources": found.resources, "templates": templates, "total": found.total})
    rows = [(one.uri_template, one.title or one.name, one.mime, one.description) for one in templates]
    rows += [(one.uri, one.title or one.name, one.mime, one.description) for one in found.resources]
    empty = "It has no resources." if found.status == "running" else f"{server} is {found.status}."
    table(("uri", "name", "type", ""), rows, empty)
    if found.total > found.count:
        note(f"{found.total - found.count:,} more; name words to find them.")


def read(
    ctx: typer.Context,
    server: Named,
    uri: Annotated[str, typer.Argument(help="The address of the resource.")],
    json: Json = False,
) -> None:
    """Print a resource of a server."""
    with opened(ctx) as session:
        contents = session.run(session.w.servers.read(server, uri))
    if json:
        return as_json(contents)
    for one in contents:
        if one.text is None:
            note(f"{one.uri}: {one.size:,} bytes of {one.mime or 'unknown type'}; --json prints them.")
        else:
            sys.stdout.write(clean(one.text).rstrip("\n") + "\n")
            if one.truncated:
                note(f"Only the first {len(one.text):,} of {one.size:,} characters.")


def prompts(ctx: typer.Context, server: Named, json: Json = False) -> None:
    """List the prompts of a server."""
    with opened(ctx) as session:
        found = session.run(session.w.servers.prompts(server))
    if json:
        return as_json(found.prompts)
    empty = "It has no prompts." if found.status == "running" else f"{server} is {found.status}."
    rows = ((one.name, usage(one), one.description or one.title) for one in found.prompts)
    table(("prompt", "arguments", ""), rows, empty)


def prompt(
    ctx: typer.Context,
    server: Named,
    name: Annotated[str, typer.Argument(metavar="PROMPT", help="Its name.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Its arguments, as NAME=VALUE.")] = None,
    json: Json = False,
) -> None:
    """Fill in a prompt of a server and print it. Nothing is sent to a model."""
    given = pairs(arguments)
    with opened(ctx) as session:
        filled = session.run(session.w.servers.prompt(server, name, given))
    if json:
        return as_json(filled)
    sys.stdout.write(clean(filled.text).rstrip("\n") + "\n")
    for text in filled.notes:
        note(line(text), "yellow")


def usage(one: schemas.ServerPrompt) -> str:
    """Its arguments as they are typed, those that may be left out in brackets."""
    return " ".join(f"{each.name}=" if each.required else f"[{each.name}=]" for each in one.arguments)


def pairs(given: list[str] | None) -> dict[str, str]:
    for pair in given or []:
        if "=" not in pair:
            raise BadInput(f"{pair} is not NAME=VALUE.", hint="Such as API_KEY=abc.")
    return dict(pair.split("=", 1) for pair in given or [])
