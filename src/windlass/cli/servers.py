"""`windlass servers`."""

import json as jsonlib
import re
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from windlass.api import schemas
from windlass.cli import offered
from windlass.cli.offered import Json, Named, pairs
from windlass.cli.options import FAILED
from windlass.cli.output import as_json, clean, note, out, table
from windlass.cli.session import Connected, opened
from windlass.core.errors import BadInput

servers = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
START_S = 60.0
LOG_LINES = 10
_TEXT = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_TEXT}|,(?=\s*[}}\]])")


@servers.command("list")
def list_(ctx: typer.Context, json: Json = False) -> None:
    """List MCP servers and their status."""
    with opened(ctx) as session:
        found = session.run(session.w.servers.list())
    if json:
        return as_json(found)
    rows = ((one.slug, one.status, str(one.tool_count), _target(one), one.error or "") for one in found)
    table(("server", "status", "tools", "runs", ""), rows, "No servers yet. `windlass servers add` adds one.")


@servers.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="The name of the server.")],
    command: Annotated[list[str] | None, typer.Argument(help="The command and its arguments, after --.")] = None,
    url: Annotated[str, typer.Option("--at", help="Its address, for a server reached over HTTP.")] = "",
    env: Annotated[list[str] | None, typer.Option(help="NAME=VALUE for its environment. Repeatable.")] = None,
    header: Annotated[list[str] | None, typer.Option(help="NAME=VALUE to send with each request. Repeatable.")] = None,
    trusted: Annotated[bool, typer.Option("--trusted", help="Trust its read-only and idempotent hints.")] = False,
    tools: Annotated[str, typer.Option(help="Tools that are on in new chats; * is all.")] = "",
    sandbox: Annotated[bool, typer.Option("--sandbox", help="The same as --isolation strict.")] = False,
    isolation: Annotated[str, typer.Option(help="default, strict or off: how far its program is isolated.")] = "",
    json: Json = False,
) -> None:
    """Add a server, confirm its command and start it, in one step."""
    if bool(command) == bool(url):
        raise BadInput("Give a command after --, or an address with --at.")
    fields: dict[str, Any] = {
        "trusted": trusted,
        "tools": tools,
        "sandbox": isolation or ("strict" if sandbox else "default"),
    }
    if command:
        fields |= {"command": command[0], "args": command[1:], "env": pairs(env)}
    else:
        fields |= {"url": url, "headers": pairs(header)}
    with opened(ctx) as session:
        made = session.run(session.w.servers.add(name, **fields))
        if made.status == "draft":
            session.run(session.w.servers.confirm(made.id, made.argv, made.env_values))
        _finish(session, _started(session, made.id), json)


@servers.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="A config file of Claude Desktop, Cursor, VS Code or Zed.")],
    json: Json = False,
) -> None:
    """Add servers from another client's config. All are drafts: `confirm` starts one."""
    try:
        held = jsonlib.loads(_plain_json(file.read_text()))
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read: {error}", hint="It must be a JSON file with servers in it.") from None
    if not isinstance(held, dict):
        raise BadInput(f"{file} has no servers in it.", hint='It needs a JSON object such as {"mcpServers": {...}}.')
    with opened(ctx) as session:
        found = session.run(session.w.servers.import_(held))
    if json:
        return as_json(found)
    for one in found.servers:
        note(f"{one.slug}: {one.status}. {_target(one)}", "")
    for imported in found.notes:
        for warning in filter(None, (imported.problem, *imported.warnings)):
            note(f"{imported.name}: {warning}", "yellow")
    note("Review each command and address, then run `windlass servers confirm NAME`.")


@servers.command()
def confirm(
    ctx: typer.Context,
    server: Named,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Review the exact command or address of a draft, then start it."""
    with opened(ctx) as session:
        found = session.run(session.w.servers.get(server))
        over_http = found.status == "draft" and found.transport != "stdio"
        for part in [found.url] if over_http else found.argv:
            note(f"  {part}", "")
        _show_environment(found)
        question = "Connect to this address?" if over_http else "Run this command on this machine?"
        if not yes and not typer.confirm(question, err=True):
            raise typer.Exit(FAILED)
        if not over_http:
            session.run(session.w.servers.confirm(found.id, found.argv, found.env_values))
        _finish(session, _started(session, found.id), json)


@servers.command()
def start(ctx: typer.Context, server: Named, json: Json = False) -> None:
    """Start a server and wait until it runs."""
    with opened(ctx) as session:
        _finish(session, _started(session, server), json)


@servers.command()
def stop(ctx: typer.Context, server: Named, json: Json = False) -> None:
    """Stop a server and all its processes."""
    with opened(ctx) as session:
        found = session.run(session.w.servers.stop(server))
    as_json(found) if json else note(f"{found.slug}: {found.status}", "")


@servers.command()
def test(ctx: typer.Context, server: Named, json: Json = False) -> None:
    """Start a server if needed, and list its tools."""
    with opened(ctx) as session:
        found = _started(session, server)
        tools = session.run(session.w.servers.tools(server)).tools if found.status == "running" else []
        if not json:
            rows = ((tool.name, f"~{tool.tokens} tokens", clean(tool.description)[:80]) for tool in tools)
            table(("tool", "cost", "what it does"), rows, "It offers no tools.")
        _finish(session, found, json)


@servers.command()
def log(ctx: typer.Context, server: Named, json: Json = False) -> None:
    """Show the last lines a server wrote to standard error."""
    with opened(ctx) as session:
        lines = session.run(session.w.servers.log(server))
    as_json(lines) if json else out.print("\n".join(map(clean, lines)))


@servers.command()
def remove(ctx: typer.Context, server: Named) -> None:
    """Stop a server and remove it."""
    with opened(ctx) as session:
        session.run(session.w.servers.delete(server))
    note(f"Removed {server}.", "")


def _show_environment(server: schemas.Server) -> None:
    if server.env_names:
        note("Environment:", "")
    for name in server.env_names:
        value = server.env_values.get(name)
        if value is None:
            note(f"  {name} (value hidden)", "")
        else:
            # A line break in a value must not look like the next variable.
            note(f"  {name}={value if value.isprintable() else ascii(value)}", "")


def _started(session: Connected, server: str) -> schemas.Server:
    found = session.run(session.w.servers.get(server))
    if found.status not in ("running", "starting"):
        found = session.run(session.w.servers.start(found.id))
    ends = time.monotonic() + START_S
    while found.status == "starting" and time.monotonic() < ends:
        time.sleep(0.05)
        found = session.run(session.w.servers.get(found.id))
    return found


def _finish(session: Connected, server: schemas.Server, json: bool) -> None:
    if json:
        as_json(server)
    else:
        note(f"{server.slug}: {server.status}, {server.tool_count} tools {server.era}".rstrip(), "")
    if server.status == "running":
        return
    if not json:
        note(server.error or "It did not start.", "red")
        for text in session.run(session.w.servers.log(server.id))[-LOG_LINES:]:
            note(f"  {text}")
    raise typer.Exit(FAILED)


def _plain_json(text: str) -> str:
    """Editors allow comments, and a comma after the last of a list, in their settings."""
    bare = _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    return _LAST_COMMA.sub(lambda found: "" if found[0] == "," else found[0], bare)


def _target(server: schemas.Server) -> str:
    return " ".join(server.argv) if server.transport == "stdio" else server.url


for _command in (offered.resources, offered.read, offered.prompts, offered.prompt):
    servers.command()(_command)
