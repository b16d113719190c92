"""The server process: listens, says where, and goes down in good order."""

import asyncio
import gc
import json
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from windlass.app import DEMO, GRACE_S, App, open_app
from windlass.config import Config
from windlass.core.errors import Unavailable
from windlass.web.auth import Access
from windlass.web.protocol import BoundedProtocol

COLLECT_AFTER = 20_000  # objects; a turn makes hundreds that die with it, and each look costs as much as a step
DEMO_ANSWERS = (
    "No model is connected, so the demo model answers: it understands no language. To connect a model, set "
    "OPENAI_API_KEY, OPENAI_BASE_URL and LLM_MODEL and start again, or add one on the page under Models"
)
NOT_RELOADED = "SIGHUP: the settings are not reloaded; restart Windlass to apply changes"
STREAMS_S = 2  # how long open streams may linger once every turn is at rest

logger = logging.getLogger("windlass")


async def serve(config: Config, ready: Callable[[str], None], *, grace_s: float = GRACE_S) -> None:
    """Run until SIGTERM or SIGINT. `ready` is told the address to open, with a key good for one login."""
    gc.set_threshold(COLLECT_AFTER, 20, 20)
    _survive_hangup()
    with _listening(config) as sockets:
        async with open_app(config, grace_s=0) as app:
            access = Access(config.home, token=config.token, open_to_all=not config.auth)
            server = _server(app, access)
            port = sockets[0].getsockname()[1]
            told = _told()
            with _announced(config, port):
                ready(address(config, port, "" if access.open_to_all else access.new_key()))
                if app.models.config().kind == DEMO and not config.demo:
                    logger.info(DEMO_ANSWERS)
                await _until_told(told, app, server, sockets, grace_s)


def address(config: Config, port: int, key: str = "") -> str:
    host = f"[{config.host}]" if ":" in config.host else config.host
    return f"http://{host}:{port}/" + (f"?key={key}" if key else "")


def _survive_hangup() -> None:
    """A terminal that closes, or a service manager that asks for a reload, ends no turn."""
    if hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, logger.warning, NOT_RELOADED)


def _told() -> asyncio.Event:
    """Set by SIGTERM and SIGINT. Made before anyone hears of the server, or a quick Ctrl-C would find nobody."""
    told = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    return told


async def _until_told(
    told: asyncio.Event, app: App, server: uvicorn.Server, sockets: list[socket.socket], grace_s: float
) -> None:
    serving = asyncio.create_task(server.serve(sockets))
    waiting = asyncio.create_task(told.wait())
    await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    # New turns get a 503 while those under way may finish; what does not is picked up by the next start.
    await app.runner.drain(grace_s)
    app.bus.close()
    server.should_exit = True
    waiting.cancel()
    await serving


def _server(app: App, access: Access) -> uvicorn.Server:
    return _Quiet(
        uvicorn.Config(
            app.asgi(access),
            http=BoundedProtocol,
            ws="none",
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            proxy_headers=False,  # nobody here asks who a request came from
            timeout_graceful_shutdown=STREAMS_S,
        )
    )


class _Quiet(uvicorn.Server):
    """Signals are ours: turns come to rest before connections do."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def _listening(config: Config) -> Iterator[list[socket.socket]]:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # Named in full: asyncio turns off Nagle's delay, 40 ms a response, only for sockets that say they are TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((config.host, config.port))
        except OSError as error:
            raise Unavailable(
                f"Port {config.port} on {config.host} cannot be used: {error.strerror}.",
                hint="Stop what uses it, or choose another with --port.",
                code="port_in_use",
            ) from None
        listener.listen(2048)
        yield [listener]
    finally:
        listener.close()


@contextmanager
def _announced(config: Config, port: int) -> Iterator[None]:
    """Commands on this machine find the running server by this file; the folder's lock tells whether it still runs."""
    file = config.home / "server.json"
    _write(file, {"url": address(config, port), "pid": os.getpid()})
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def _write(file: Path, content: dict[str, object]) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(content))
    fresh.replace(file)
