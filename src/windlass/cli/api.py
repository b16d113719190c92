"""`windlass api`: any request of the HTTP API, to a running server or in process."""

import sys
from typing import Annotated

import msgspec
import typer

from windlass.cli.options import FAILED
from windlass.cli.session import opened
from windlass.core.errors import BadInput

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


def api(
    ctx: typer.Context,
    method: Annotated[str, typer.Argument(help="GET, POST, PUT, PATCH or DELETE.")],
    path: Annotated[str, typer.Argument(help="Such as /conversations?limit=5.")],
    body: Annotated[str, typer.Argument(help="JSON; - reads standard input.")] = "",
) -> None:
    """Send any request of the HTTP API and print the response. Exit code 1 for an error."""
    if method.upper() not in METHODS:
        raise typer.BadParameter(f"{method} is not one of {', '.join(METHODS)}.", param_hint="'method'")
    text = sys.stdin.read() if body == "-" else body
    try:
        content = msgspec.json.encode(msgspec.json.decode(text)) if text else None
    except msgspec.DecodeError as error:
        raise BadInput(f"The body is not valid JSON: {error}.", hint="Put it in single quotes.") from None
    if not path.startswith("/"):
        raise BadInput(f"{path} is not a path.", hint="Paths begin with /, such as /conversations.")
    with opened(ctx) as session:
        status, answer = session.run(session.w.transport.raw(method.upper(), path, content))
    sys.stdout.write(_shown(answer) + "\n")
    raise typer.Exit(0 if status < 400 else FAILED)


def _shown(answer: bytes) -> str:
    try:
        return msgspec.json.format(answer, indent=2).decode()
    except msgspec.DecodeError:
        return answer.decode("utf-8", "replace")
