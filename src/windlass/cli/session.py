"""A client for the verbs. The terminal is read and written in the main thread, where Ctrl-C arrives; the client runs on
an event loop in a second thread."""

import asyncio
import logging
import os
import queue
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import typer

from windlass.cli.local_server import find_server, settings
from windlass.cli.options import LEFT, options_of
from windlass.client import Windlass
from windlass.config import Config
from windlass.core.errors import BadInput, WindlassError
from windlass.core.values import value_object
from windlass.hardening import forget_environment, harden_process

T = TypeVar("T")


@value_object
class Connected:
    w: Windlass
    loop: asyncio.AbstractEventLoop
    config: Config
    url: str  # "" in process

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def feed(self, source: AsyncIterator[T]) -> "Feed[T]":
        return Feed(source, self.loop)


class Feed(Generic[T]):
    """The items of an async source, one at a time. The loop's thread fills a queue and the main thread takes from it,
    so a Ctrl-C while waiting loses no item."""

    def __init__(self, source: AsyncIterator[T], loop: asyncio.AbstractEventLoop) -> None:
        self._queue: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()
        self._pump = asyncio.run_coroutine_threadsafe(self._fill(source), loop)

    def next(self) -> T | None:
        """None at the end."""
        item, error = self._queue.get()
        if error:
            raise error
        return item

    def close(self) -> None:
        self._pump.cancel()

    async def _fill(self, source: AsyncIterator[T]) -> None:
        try:
            async for item in source:
                self._queue.put((item, None))
            self._queue.put((None, None))
        except Exception as error:  # the root of this task; the reader raises it
            self._queue.put((None, error))


@contextmanager
def opened(ctx: typer.Context, *, only_running: bool = False) -> Iterator[Connected]:
    """A client of the running server, or else of the data folder itself."""
    options = options_of(ctx)
    # The verb prints the steps of a turn itself; the log would repeat them.
    logging.basicConfig(level=logging.DEBUG if options.debug else logging.CRITICAL, format="%(name)s: %(message)s")
    config = settings(options)
    url, token = find_server(options, config)
    if only_running and not url:
        raise BadInput("No server is running.", hint="Start one with `windlass serve`, or name one with --url.")
    if options.own_process:
        harden_process()
        forget_environment(config.keys_read)
    windlass = Windlass(url, token) if url else Windlass(config=config, recover=False)
    with _loop() as loop:
        ready: asyncio.Future[None] = loop.create_future()
        done = asyncio.Event()
        life = asyncio.run_coroutine_threadsafe(_live(windlass, ready, done), loop)
        asyncio.run_coroutine_threadsafe(_wait(ready), loop).result()
        try:
            yield Connected(windlass, loop, config, url)
        except WindlassError as error:
            if error.code == "unauthorized" and url and not token:
                error.hint = f"Give a token of {url} with WINDLASS_TOKEN: this data folder's own is for its own server."
            raise
        except KeyboardInterrupt:
            raise typer.Exit(LEFT) from None
        finally:
            loop.call_soon_threadsafe(done.set)
            life.result()


async def _live(windlass: Windlass, ready: "asyncio.Future[None]", done: asyncio.Event) -> None:
    """Opens the client and closes it in the same task: its task groups and timeouts must be left where they were
    entered."""
    try:
        async with windlass:
            ready.set_result(None)
            await done.wait()
    except Exception as error:  # the root of this task; `opened` waits on `ready` and raises it
        if ready.done():
            raise
        ready.set_exception(error)


async def _wait(future: "asyncio.Future[None]") -> None:
    await future


@contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="client", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def state_folder(config: Config) -> Path:
    os.makedirs(config.home, mode=0o700, exist_ok=True)
    return config.home
