"""`windlass token`: the access token of the data folder, login links, and named tokens with scopes."""

import sys
from datetime import UTC, datetime, timedelta
from typing import Annotated, get_args

import typer

from windlass.api import routes, schemas
from windlass.cli.local_server import saved_token, settings
from windlass.cli.options import options_of
from windlass.cli.output import as_json, note, table
from windlass.cli.session import Connected, opened
from windlass.core.errors import BadInput, NotFound

token = typer.Typer(rich_markup_mode=None, invoke_without_command=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SCOPES = get_args(schemas.Scope)


@token.callback()
def show(
    ctx: typer.Context,
    url: Annotated[bool, typer.Option("--url", help="Make a URL that logs a browser in once.")] = False,
    rotate: Annotated[bool, typer.Option("--rotate", help="Replace the token; its sessions end.")] = False,
) -> None:
    """Show the access token, or make tokens with fewer rights."""
    if ctx.invoked_subcommand:
        return
    if url or rotate:
        with opened(ctx, only_running=True) as session:
            made = _new_token(session) if rotate else _login_url(session)
    else:
        made = saved_token(settings(options_of(ctx)))
    if not made:
        raise NotFound("There is no token yet.", hint="`windlass serve` creates one at its first start.")
    sys.stdout.write(made + "\n")


@token.command("list")
def list_(ctx: typer.Context, json: Json = False) -> None:
    """List the tokens of the running server, without their secrets."""
    with opened(ctx, only_running=True) as session:
        found = _all(session)
    if json:
        return as_json(found)
    rows = (
        (one.name, ",".join(one.scopes), one.last_used_at or "never", one.expires_at or "never", str(one.sessions))
        for one in found
    )
    table(("token", "scopes", "last used", "expires", "browsers"), rows, "No tokens yet.")


@token.command()
def new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What for or for whom: it stands beside what is done with the token.")],
    scope: Annotated[list[str] | None, typer.Option(help=f"One of {', '.join(SCOPES)}. Repeatable.")] = None,
    days: Annotated[int | None, typer.Option(min=1, max=36500, help="How long it is valid; else for good.")] = None,
    json: Json = False,
) -> None:
    """Make a token with these scopes. Its secret is printed this once."""
    due = None if days is None else (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="seconds")
    request = schemas.TokenRequest(name, _scopes(scope or []), due)
    with opened(ctx, only_running=True) as session:
        made = session.run(session.w.transport.call(routes.access.new_token, request))
    if json:
        return as_json(made)
    sys.stdout.write(made.secret + "\n")
    note(f"{made.message}. `windlass token revoke {made.token.name}` ends it.")


@token.command()
def revoke(ctx: typer.Context, name: Annotated[str, typer.Argument(help="Its name or id.")]) -> None:
    """Revoke a token. The browsers that signed in with it are signed out."""
    with opened(ctx, only_running=True) as session:
        found = next((one for one in _all(session) if name in (one.name, one.id)), None)
        if found is None:
            raise NotFound(f"There is no token {name}.", hint="`windlass token list` shows those that are there.")
        done = session.run(session.w.transport.call(routes.access.revoke, found.id))
    note(done.message)


def _all(session: Connected) -> list[schemas.TokenInfo]:
    return session.run(session.w.transport.call(routes.access.tokens)).tokens


def _scopes(given: list[str]) -> list[schemas.Scope]:
    found = [one.strip() for part in given for one in part.split(",")]
    if not found or not set(found) <= set(SCOPES):
        raise BadInput(
            f"The token needs scopes of these: {', '.join(SCOPES)}.",
            hint="`--scope chat --scope approve` for a person, `--scope ops` for a probe.",
        )
    return [scope for scope in SCOPES if scope in found]


def _new_token(session: Connected) -> str:
    return session.run(session.w.transport.call(routes.access.rotate)).token


def _login_url(session: Connected) -> str:
    return session.run(session.w.transport.call(routes.access.new_key)).url
