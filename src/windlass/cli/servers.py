"""`windlass servers`."""

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from windlass.api import schemas
from windlass.cli import offered
from windlass.cli.offered import Json, Named, pairs
from windlass.cli.options import FAILED
from windlass.cli.output import as_json, clean, from_terminal, note, out, table
from windlass.cli.session import Connected, opened
from windlass.cli.sign_in import signed_in
from windlass.core.errors import BadInput

servers = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
START_S = 60.0
LOG_LINES = 10
SECRET_VARIABLE = "WINDLASS_CLIENT_SECRET"  # noqa: S105 - its name
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="NAME=VALUE for what a placeholder such as ${NAME} asks for. Repeatable."),
]


@servers.command("list")
def list_(ctx: typer.Context, json: Json = False) -> None:
    """List MCP servers and their status."""
    with opened(ctx) as session:
        found = session.run(session.w.servers.list())
    if json:
        return as_json(found)
    rows = ((one.slug, one.status, str(one.tool_count), _target(one), _remark(one)) for one in found)
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
    transport: Annotated[str, typer.Option(help="http or sse, of an address. Left out, it is found by trying.")] = "",
    auth: Annotated[
        str,
        typer.Option(help="oauth: you sign in when it asks. client_credentials: Windlass does, with a client secret."),
    ] = "",
    client_id: Annotated[str, typer.Option(help="Of a client you registered there by hand.")] = "",
    scopes: Annotated[str, typer.Option(help="What to ask for when signing in, with spaces between.")] = "",
    values: Set = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Of a known server: do not ask.")] = False,
    json: Json = False,
) -> None:
    """Add a server, confirm its command and start it, in one step. A client secret is read from
    WINDLASS_CLIENT_SECRET, or asked for.

    NAME alone adds a known server of `windlass servers find`: its command is shown and confirmed first."""
    if command and url:
        raise BadInput("Give a command after --, or an address with --at.")
    _check_choices(url, transport, auth, client_id, scopes)
    if not (command or url):
        return _add_known(ctx, name, pairs(values), yes, json)
    fields: dict[str, Any] = {
        "trusted": trusted,
        "tools": tools,
        "sandbox": isolation or ("strict" if sandbox else "default"),
    }
    if command:
        fields |= {"command": command[0], "args": command[1:], "env": pairs(env)}
    else:
        fields |= {"url": url, "headers": pairs(header), "auth": auth, "client_id": client_id, "scopes": scopes}
        fields |= {"transport": transport} if transport else {}
        fields |= {"client_secret": _client_secret(needed=auth == "client_credentials")} if client_id else {}
    with opened(ctx) as session:
        made = session.run(session.w.servers.add(name, **fields))
        if made.status == "draft":
            session.run(session.w.servers.confirm(made.id, made.argv, made.env_values))
        _finish(session, _started(session, made.id), json)


@servers.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(help="A config file of another client, in JSON, YAML or TOML; - reads it from stdin.")
    ] = "",
    only: Annotated[list[str] | None, typer.Option("--only", help="A server of what is found. Repeatable.")] = None,
    values: Set = None,
    json: Json = False,
) -> None:
    """Add servers from another client's config. All are drafts: `confirm` starts one.

    Without FILE, the configs of other clients on this machine are listed, and imported when you say so."""
    with opened(ctx) as session:
        if file:
            found = session.run(session.w.servers.import_(_content(file), values=pairs(values)))
        else:
            chosen = _chosen(session.run(session.w.servers.found()), bool(only))
            found = session.run(session.w.servers.import_(found=chosen, only=only, values=pairs(values)))
    as_json(found) if json else _show_imported(found)


@servers.command("found")
def found_(ctx: typer.Context, json: Json = False) -> None:
    """Look for the configs of other clients on the machine that Windlass runs on. Nothing is started."""
    with opened(ctx) as session:
        found = session.run(session.w.servers.found())
    if json:
        return as_json(found)
    _show_found(found)
    if found.count:
        note("`windlass servers import` adds them as drafts; `--only NAME` picks one.")


@servers.command()
def find(
    ctx: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(help="What it should do. Without words, all are listed.")] = None,
    json: Json = False,
) -> None:
    """Search the known servers that come with Windlass. `windlass servers add ID` adds one."""
    with opened(ctx) as session:
        found = session.run(session.w.servers.find(" ".join(words or [])))
    if json:
        return as_json(found)
    rows = ((one.id, _needs(one), one.publisher, one.description) for one in found)
    table(("server", "needs", "by", "gives"), rows, "No known server matches. Any command or address can be added.")


@servers.command()
def confirm(
    ctx: typer.Context,
    server: Named,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    values: Set = None,
    json: Json = False,
) -> None:
    """Review the exact command or address of a draft, then start it. What is missing is asked for first."""
    with opened(ctx) as session:
        _confirm(session, session.run(session.w.servers.get(server)), pairs(values), yes, json)


def _confirm(session: Connected, found: schemas.Server, values: dict[str, str], yes: bool, json: bool) -> None:
    values = values if yes else values | _asked_for(found.missing, values)
    if values:
        found = session.run(session.w.servers.change(found.id, values=values))
    if found.missing:
        names = ", ".join(one.name for one in found.missing)
        raise BadInput(f"These values are missing: {names}.", hint=f"Give them with --set {found.missing[0].name}=...")
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
        if not json and found.status == "running":
            rows = ((tool.name, f"~{tool.tokens} tokens", clean(tool.description)[:80]) for tool in tools)
            table(("tool", "cost", "what it does"), rows, "It offers no tools.")
        _finish(session, found, json)


@servers.command()
def login(
    ctx: typer.Context,
    server: Named,
    paste: Annotated[
        bool, typer.Option("--paste", help="Paste the final address, where the browser runs on another machine.")
    ] = False,
    json: Json = False,
) -> None:
    """Sign in to a server that asks for it, in a browser."""
    with opened(ctx) as session:
        signed_in(session, server, paste=paste)
        _finish(session, _started(session, server), json)


@servers.command()
def logout(ctx: typer.Context, server: Named, json: Json = False) -> None:
    """Sign out of a server: what was kept of the sign-in is deleted, and the server stops."""
    with opened(ctx) as session:
        found = session.run(session.w.servers.logout(server))
    as_json(found) if json else note(f"Signed out of {found.slug}. It is {found.status}.", "")


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
    if server.status == "needs_sign_in" and not json:
        note(f"{server.error or ''} `{_next_step(server)}` signs you in.".strip(), "yellow")
    elif not json:
        note(server.error or "It did not start.", "red")
        for text in session.run(session.w.servers.log(server.id))[-LOG_LINES:]:
            note(f"  {text}")
    raise typer.Exit(FAILED)


def _remark(server: schemas.Server) -> str:
    if server.status == "needs_sign_in":
        return f"sign in: {_next_step(server)}"
    return server.error or ""


def _next_step(server: schemas.Server) -> str:
    return f"windlass servers login {server.slug}"


def _check_choices(url: str, transport: str, auth: str, client_id: str, scopes: str) -> None:
    if not url and (transport not in ("", "stdio") or auth or client_id or scopes):
        raise BadInput("--transport, --auth, --client-id and --scopes are for an address, given with --at.")
    if url and transport not in ("", "http", "sse"):
        raise BadInput(f"--transport: {transport!r} is neither http nor sse.")
    if auth not in ("", "oauth", "client_credentials"):
        raise BadInput(f"--auth: {auth!r} is neither oauth nor client_credentials.")
    if auth == "client_credentials" and not client_id:
        raise BadInput("--auth client_credentials needs --client-id.")


def _client_secret(*, needed: bool) -> str:
    """Never an argument: those stand in the shell's history and in the list of processes."""
    if secret := os.environ.get(SECRET_VARIABLE, ""):
        return secret
    if from_terminal():
        ask = "Client secret" if needed else "Client secret (Enter for a client without one)"
        given: str = typer.prompt(ask, default=... if needed else "", hide_input=True, show_default=False, err=True)
        return given
    if needed:
        raise BadInput("client_credentials needs a client secret.", hint=f"Set {SECRET_VARIABLE} for this command.")
    return ""


def _add_known(ctx: typer.Context, entry: str, values: dict[str, str], yes: bool, json: bool) -> None:
    with opened(ctx) as session:
        known = next((one for one in session.run(session.w.servers.find()) if one.id == entry), None)
        if known is None:
            raise BadInput(
                f"{entry} is no known server.",
                hint="Give a command after --, or an address with --at; `windlass servers find` lists known ones.",
            )
        if known.note:
            note(known.note)
        values = values if yes else values | _asked_for(known.asks, values)
        made = session.run(session.w.servers.add_known(entry, values))
        _confirm(session, made, {}, yes, json)


def _asked_for(missing: list[schemas.MissingValue], given: dict[str, str]) -> dict[str, str]:
    """Secrets are not shown while they are typed."""
    return {
        one.name: typer.prompt(
            clean(one.label or one.name), default=one.default, hide_input=one.secret, show_default=True, err=True
        )
        for one in missing
        if one.name not in given
    }


def _content(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read: {error}", hint="It must be a text file with servers in it.") from None


def _chosen(found: schemas.FoundConfigs, named: bool) -> list[str]:
    """Of the files that are there; asks before any of it is imported, unless servers were named."""
    _show_found(found)
    if not found.count:
        raise typer.Exit(FAILED)
    if not named and not typer.confirm(f"Import {found.count} as drafts?", err=True):
        raise typer.Exit(FAILED)
    return [config.id for config in found.configs if config.count]


def _show_found(found: schemas.FoundConfigs) -> None:
    if not found.configs:
        note("No configs of other clients were found. Give a file: `windlass servers import FILE`.", "")
    for config in found.configs:
        note(f"{config.client}: {config.problem or _counted(config)} ({clean(config.path)})", "")
        for one in config.servers:
            detail = one.problem or ("already here" if one.added else one.runs)
            note(f"  {clean(one.name)}: {clean(detail)}")


def _counted(config: schemas.FoundConfig) -> str:
    return f"{len(config.servers)} server{'s'[: len(config.servers) != 1]}"


def _show_imported(found: schemas.ImportedServers) -> None:
    for one in found.servers:
        note(f"{one.slug}: {one.status}. {_target(one)}", "")
        for missing in one.missing:
            note(f"  asks for {clean(missing.name)}: {clean(missing.label)}")
    for imported in found.notes:
        for warning in filter(None, (imported.problem, *imported.warnings)):
            note(f"{clean(imported.name)}: {clean(warning)}", "yellow")
    if found.unread:
        note(f"Not about servers, and not read: {clean(', '.join(found.unread))}")
    note("Review each command and address, then run `windlass servers confirm NAME`.")


def _needs(known: schemas.GalleryEntry) -> str:
    return ", ".join(need.replace("_", "-") for need in known.needs) or "no key"


def _target(server: schemas.Server) -> str:
    return " ".join(server.argv) if server.transport == "stdio" else server.url


for _command in (offered.resources, offered.read, offered.prompts, offered.prompt):
    servers.command()(_command)
