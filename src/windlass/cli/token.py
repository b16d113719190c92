"""`windlass token`."""

import sys
from typing import Annotated

import typer

from windlass.api import routes
from windlass.cli.local_server import saved_token, settings
from windlass.cli.options import options_of
from windlass.cli.session import opened
from windlass.core.errors import NotFound


def token(
    ctx: typer.Context,
    url: Annotated[bool, typer.Option("--url", help="Make a URL that logs a browser in, once.")] = False,
    rotate: Annotated[bool, typer.Option("--rotate", help="Replace the token; every session ends.")] = False,
) -> None:
    """Show the access token."""
    if url or rotate:
        with opened(ctx, only_running=True) as session:
            call = session.w.transport.call
            made = (
                session.run(call(routes.access.rotate)).token
                if rotate
                else session.run(call(routes.access.new_key)).url
            )
        sys.stdout.write(made + "\n")
        return
    found = saved_token(settings(options_of(ctx)))
    if not found:
        raise NotFound("There is no token yet.", hint="`windlass serve` makes one at its first start.")
    sys.stdout.write(found + "\n")
