"""`windlass serve` and `windlass demo`: the server process. It listens, prints its URL and shuts down gracefully. The
one module here that imports the server itself; it loads no client, which would make a start half as long again."""

import asyncio
import gc
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
import uvicorn
from starlette.types import ASGIApp

if sys.platform != "win32":
    import uvloop

from windlass.app import GRACE_S, App, open_app
from windlass.cli.local_server import PAGE, find_server
from windlass.cli.options import USAGE, Options, options_of
from windlass.config import KEYLESS_SEARCH, Config, check_token, load
from windlass.core.errors import BadInput, Unavailable
from windlass.hardening import forget_environment, harden_process
from windlass.reload import Reload
from windlass.telemetry.logs import Form, log_to
from windlass.web.addresses import reachable_at
from windlass.web.auth import Access
from windlass.web.ops import build_ops
from windlass.web.protocol import protocol_behind

Host = Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 by default.")]
Port = Annotated[int | None, typer.Option(help="Port; 8420 by default, 0 for any free one.", min=0, max=65535)]
NoAuth = Annotated[bool, typer.Option("--no-auth", help="No token; on loopback only.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME[:PORT]", help="Another name that clients use for it. Repeatable."),
]
PublicUrl = Annotated[
    str, typer.Option("--public-url", metavar="URL", help="The address people open, with the path of a proxy.")
]
TrustedProxy = Annotated[
    list[str] | None,
    typer.Option(
        "--trusted-proxy", metavar="ADDRESS", help="A proxy, or a network of them, whose X-Forwarded headers count."
    ),
]
OpsPort = Annotated[
    int | None,
    typer.Option(help="Another port, for /health, /ready and /metrics without a token.", min=0, max=65535),
]
LogFormat = Annotated[Form, typer.Option(help="Log lines as text, or one JSON object per line.")]

COLLECT_AFTER = 20_000  # objects; a turn makes hundreds that die with it, and each collection costs as much as a step
DEMO_ANSWERS = (
    "No model is connected, so the demo model answers: it understands no language. To connect a model, set "
    "OPENAI_API_KEY, OPENAI_BASE_URL and LLM_MODEL and start again, or add one on the page under Models"
)
WITHOUT_AUTH = "There is no token: any local program, tool servers included, can approve calls"
STREAMS_S = 2  # how long open streams may linger once every turn is at rest

logger = logging.getLogger("windlass")


def serve(
    ctx: typer.Context,
    host: Host = None,
    port: Port = None,
    public_url: PublicUrl = "",
    allow_host: AllowHost = None,
    trusted_proxy: TrustedProxy = None,
    ops_port: OpsPort = None,
    no_auth: NoAuth = False,
    log_format: LogFormat = "text",
) -> None:
    """Start the server and print one URL that logs a browser in, once. Ctrl-C shuts it down gracefully."""
    names = {"public_url": public_url, "allow_hosts": allow_host or (), "trusted_proxies": trusted_proxy or ()}
    flags = {"host": host, "port": port, "ops_port": ops_port, "auth": not no_auth, "demo": False}
    _serve(ctx, log_format, {**names, **flags})


def demo(
    ctx: typer.Context,
    host: Host = None,
    port: Port = None,
    public_url: PublicUrl = "",
    allow_host: AllowHost = None,
    trusted_proxy: TrustedProxy = None,
    ops_port: OpsPort = None,
    no_auth: NoAuth = False,
    log_format: LogFormat = "text",
) -> None:
    """Start the server with the demo model and the demo tools, whatever is configured: no key, no network."""
    names = {"public_url": public_url, "allow_hosts": allow_host or (), "trusted_proxies": trusted_proxy or ()}
    flags = {"host": host, "port": port, "ops_port": ops_port, "auth": not no_auth, "demo": True}
    _serve(ctx, log_format, {**names, **flags})


def _serve(ctx: typer.Context, log_format: Form, flags: Mapping[str, Any]) -> None:
    options = options_of(ctx)
    if options.own_process:
        harden_process()
    read = partial(_read, config=options.config, env=dict(os.environ), **flags)
    try:
        config = read()
        check_token(config.token if config.auth else "")
    except BadInput as error:
        sys.stderr.write(f"error: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else ""))
        raise typer.Exit(USAGE) from None
    _refuse_second(config)
    log_to(sys.stderr, logging.DEBUG if options.debug else logging.INFO, log_format)
    if not config.auth:
        logger.warning(WITHOUT_AUTH)
    if (names := _outside_names(config)) and not config.auth:
        logger.warning("Without a token, anyone who can reach this server as %s can run commands here", names)
    with asyncio.Runner(loop_factory=_event_loop) as runner:
        runner.run(_run(config, read))


def _read(**settings: Any) -> Config:
    """At start and at each SIGHUP, which may name further variables. `env` still holds what the process forgets."""
    config = load(**settings)
    forget_environment(config.keys_read)
    return config


def _outside_names(config: Config) -> str:
    return ", ".join([*([config.public_url] if config.public_url else []), *config.allow_hosts])


def _refuse_second(config: Config) -> None:
    url, _ = find_server(Options(), config)
    if url:
        raise Unavailable(
            f"A server is already running at {url} with this data folder.",
            hint="`windlass token --url` makes a login URL for it; WINDLASS_HOME names another folder.",
            code="data_folder_in_use",
        )


def _event_loop() -> asyncio.AbstractEventLoop:
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _run(config: Config, read: Callable[[], Config]) -> None:
    """Run until SIGTERM or SIGINT."""
    gc.set_threshold(COLLECT_AFTER, 20, 20)
    _on_hangup(lambda: None)
    with _listening(config, config.port) as listener, _listening_for_ops(config) as ops_listeners:
        async with open_app(config, grace_s=0) as app:
            access = Access(config.home, token=config.token, open_to_all=not config.auth)
            app.redactor.learn([("token", access.token)])
            guard = app.asgi(access)
            serving = [(_http_server(guard, lambda address: guard.reach.is_proxy(address)), [listener])]
            serving += [(_http_server(build_ops(app.services)), [one]) for one in ops_listeners]
            port = listener.getsockname()[1]
            stop = _stop_signal()
            _on_hangup(Reload(app, guard, read).soon)
            with _server_file(config, port):
                _print_urls(_login_urls(config, port, access))
                if not access.open_to_all:
                    access.code.show = _print_code
                    _print_code(access.code.code)
                for one in ops_listeners:
                    logger.info("/health, /ready and /metrics need no token on port %d", one.getsockname()[1])
                if app.answers_as_demo and not config.demo:
                    logger.info(DEMO_ANSWERS)
                if config.web_search.says_keyless and not config.demo:
                    logger.info("%s. `keyless = true` or `false` under [web_search] settles it", KEYLESS_SEARCH)
                for line in [] if config.demo else await app.services.approval_changes.announce():
                    logger.warning(line)
                await _until_stopped(stop, app, serving)


def _on_hangup(act: Callable[[], object]) -> None:
    """A closed terminal, or a reload by a service manager, must not end turns."""
    if hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, act)


@contextmanager
def _listening_for_ops(config: Config) -> Iterator[list[socket.socket]]:
    if config.ops_port is None:
        yield []
        return
    with _listening(config, config.ops_port) as listener:
        yield [listener]


@contextmanager
def _listening(config: Config, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # Named in full: asyncio turns off Nagle's delay, 40 ms a response, only for sockets that say they are TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((config.host, port))
        except OSError as error:
            raise Unavailable(
                f"Port {port} on {config.host} cannot be used: {error.strerror}.",
                hint="Stop what uses it, or choose another with "
                + ("--port." if port == config.port else "--ops-port."),
                code="port_in_use",
            ) from None
        listener.listen(2048)
        yield listener
    finally:
        listener.close()


def _http_server(app: ASGIApp, is_proxy: Callable[[str], bool] = lambda address: False) -> uvicorn.Server:
    return _Quiet(
        uvicorn.Config(
            app,
            http=protocol_behind(is_proxy),
            ws="none",
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            proxy_headers=False,  # uvicorn's: web/origin.py reads them, of trusted proxies alone
            timeout_graceful_shutdown=STREAMS_S,
        )
    )


class _Quiet(uvicorn.Server):
    """Leaves signals to `_stop_signal`: uvicorn would close connections before their turns end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _stop_signal() -> asyncio.Event:
    """Set by SIGTERM and SIGINT. Installed before the URL is printed: an early Ctrl-C would otherwise end the process
    without a shutdown."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


@contextmanager
def _server_file(config: Config, port: int) -> Iterator[None]:
    """Commands on this machine find the running server by this file."""
    file = config.home / "server.json"
    _write(file, {"url": _address(config, port), "pid": os.getpid()})
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def _write(file: Path, content: dict[str, object]) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(content))
    fresh.replace(file)


def _address(config: Config, port: int) -> str:
    """For commands on this machine."""
    return f"http://{reachable_at(config.host)[0]}:{port}/"


def _login_urls(config: Config, port: int, access: Access) -> list[str]:
    """The address people use first. Each has a key of its own: one login each."""
    urls = [f"{config.public_url}/"] if config.public_url else []
    urls += [f"http://{name}:{port}{urlsplit(config.public_url).path}/" for name in reachable_at(config.host)]
    return urls if access.open_to_all else [f"{url}?key={access.new_key()}" for url in urls]


def _print_urls(urls: list[str]) -> None:
    first, *others = urls
    sys.stdout.write("".join([f"Windlass is at {first}\n", *(f"           and {url}\n" for url in others)]))
    sys.stdout.flush()
    if not PAGE.exists():
        sys.stderr.write(
            "The page is not built; the API and the command line work. To build it: install Node 20.19, `make setup`.\n"
        )


def _print_code(code: str) -> None:
    sys.stdout.write(f"Confirmation code {code[:4]} {code[4:]}: enter it where the page asks for one\n")
    sys.stdout.flush()


async def _until_stopped(
    stop: asyncio.Event, app: App, servers: list[tuple[uvicorn.Server, list[socket.socket]]]
) -> None:
    serving = [asyncio.create_task(server.serve(sockets)) for server, sockets in servers]
    waiting = asyncio.create_task(stop.wait())
    await asyncio.wait([*serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    # Turns end before connections, so that the streams of the finishing turns still reach their clients: new turns get
    # a 503 while those in flight may finish, and the next start recovers what does not.
    await app.runner.drain(GRACE_S)
    app.bus.close()
    for server, _ in servers:
        server.should_exit = True
    waiting.cancel()
    for task in serving:
        await task
