"""`windlass serve` and `windlass demo`."""

import asyncio
import logging
import sys
from collections.abc import Iterable
from typing import Annotated

import typer

if sys.platform != "win32":
    import uvloop

from windlass.cli.http_server import serve as run_server
from windlass.cli.options import USAGE, Options, options_of
from windlass.cli.terminal_run import PAGE, found_server
from windlass.config import Config, load
from windlass.core.errors import BadInput, Unavailable
from windlass.telemetry.logs import Form, log_to

Host = Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 by default.")]
Port = Annotated[int | None, typer.Option(help="Port; 8420 by default, 0 for any free one.", min=0, max=65535)]
NoAuth = Annotated[bool, typer.Option("--no-auth", help="No token; on loopback only.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME[:PORT]", help="A further name it is reached by. Repeatable."),
]
LogFormat = Annotated[Form, typer.Option(help="Log lines for people, or one JSON object a line.")]

logger = logging.getLogger("windlass")


def serve(
    ctx: typer.Context,
    host: Host = None,
    port: Port = None,
    allow_host: AllowHost = None,
    no_auth: NoAuth = False,
    log_format: LogFormat = "text",
) -> None:
    """Start the server and print one URL that logs a browser in, once. Ctrl-C stops it in good order."""
    _serve(ctx, log_format, host=host, port=port, allow_hosts=allow_host or (), auth=not no_auth, demo=False)


def demo(
    ctx: typer.Context,
    host: Host = None,
    port: Port = None,
    allow_host: AllowHost = None,
    no_auth: NoAuth = False,
    log_format: LogFormat = "text",
) -> None:
    """The same with the demo model and the demo tools, whatever is configured: no key, no network."""
    _serve(ctx, log_format, host=host, port=port, allow_hosts=allow_host or (), auth=not no_auth, demo=True)


def _serve(
    ctx: typer.Context,
    log_format: Form,
    *,
    host: str | None,
    port: int | None,
    allow_hosts: Iterable[str],
    auth: bool,
    demo: bool,
) -> None:
    options = options_of(ctx)
    try:
        config = load(config=options.config, host=host, port=port, auth=auth, demo=demo, allow_hosts=allow_hosts)
    except BadInput as error:
        sys.stderr.write(f"error: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else ""))
        raise typer.Exit(USAGE) from None
    _refuse_second(config)
    log_to(sys.stderr, logging.DEBUG if options.debug else logging.INFO, log_format)
    if config.allow_hosts and not config.auth:
        names = ", ".join(config.allow_hosts)
        logger.warning("Without a token, everyone who reaches this server as %s can run commands here", names)
    with asyncio.Runner(loop_factory=_loop) as runner:
        runner.run(run_server(config, _say))


def _refuse_second(config: Config) -> None:
    url, _ = found_server(Options(), config)
    if url:
        raise Unavailable(
            f"A server runs already at {url} with this data folder.",
            hint="`windlass token --url` makes a login URL for it; WINDLASS_HOME names another folder.",
            code="data_folder_in_use",
        )


def _loop() -> asyncio.AbstractEventLoop:
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _say(url: str) -> None:
    sys.stdout.write(f"Windlass is at {url}\n")
    sys.stdout.flush()
    if not PAGE.exists():
        sys.stderr.write("The page is not built, API and command line work: install Node 20.19, then `make setup`.\n")
