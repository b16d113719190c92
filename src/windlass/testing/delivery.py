"""Sending a scripted answer over HTTP: writes of any size, pauses, silence and cuts."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, cycle

from aiohttp import web

from windlass.testing.chat_wire import Step
from windlass.testing.replies import Hang, Headers, Pause


async def send_steps(
    http: web.Request,
    status: int,
    headers: Mapping[str, str],
    steps: Iterable[Step],
    limit: int | None,
    abruptly: bool,
) -> web.StreamResponse:
    """Send the steps, at most `limit` bytes of them; `abruptly` drops the connection instead of ending the body."""
    response = web.StreamResponse(status=status, headers=dict(headers))
    for step in steps if limit is None else limited(steps, limit):
        match step:
            case Pause(gate):
                await gate.wait()
            case Hang():
                await asyncio.Event().wait()
            case Headers():
                await response.prepare(http)
            case bytes():
                if not response.prepared:
                    await response.prepare(http)
                await response.write(step)
                await asyncio.sleep(0)  # lets a reader in the same loop see this write by itself
    if not response.prepared:
        await response.prepare(http)
    if abruptly and http.transport:
        http.transport.close()
    else:
        await response.write_eof()
    return response


def limited(steps: Iterable[Step], limit: int) -> Iterator[Step]:
    left = limit
    for step in steps:
        if left <= 0:
            return
        if isinstance(step, bytes):
            yield step[:left]
            left -= len(step)
        else:
            yield step


def resliced(steps: Iterable[Step], sizes: Sequence[int]) -> Iterator[Step]:
    """The same bytes in writes of the given sizes; a pause flushes what came before it."""
    size, held = cycle(sizes), b""
    wanted = next(size)
    for step in chain(steps, [None]):
        if isinstance(step, bytes):
            held += step
            while len(held) >= wanted:
                yield held[:wanted]
                held, wanted = held[wanted:], next(size)
            continue
        if held:
            yield held
            held = b""
        if step is not None:
            yield step
