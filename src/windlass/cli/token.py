"""`windlass token`."""

import sys
from typing import Annotated

import typer

from windlass.api import routes
from windlass.cli.local_server import saved_token, settings
from windlass.cli.options import options_of
from windlass.cli.session import Connected, opened
from windlass.core.errors import NotFound


def token(
    ctx: typer.Context,
    url: Annotated[bool, typer.Option("--url", help="Make a URL that logs a browser in once.")] = False,
    rotate: Annotated[bool, typer.Option("--rotate", help="Replace the token; all sessions end.")] = False,
) -> None:
    """Show the access token."""
    if url or rotate:
        with opened(ctx, only_running=True) as session:
            made = _new_token(session) if rotate else _login_url(session)
    else:
        made = saved_token(settings(options_of(ctx)))
    if not made:
        raise NotFound("There is no token yet.", hint="`windlass serve` creates one at its first start.")
    sys.stdout.write(made + "\n")


def _new_token(session: Connected) -> str:
    return session.run(session.w.transport.call(routes.access.rotate)).token


def _login_url(session: Connected) -> str:
    return session.run(session.w.transport.call(routes.access.new_key)).url
