"""A fuzzer led by the code it reaches, over the whole way of a model's stream: framing, assembly, repair. Started by
`test_guided.py`; by hand: python -m tests.faults.guided_stream -max_total_time=60 FOLDER

An input is one byte that says how it is torn, and then the bytes of an answer."""

import json
import sys

import atheris

with atheris.instrument_imports(include=["windlass.providers"]):
    from windlass.providers.assembly import Assembly
    from windlass.providers.sse import EventStream, LineTooLong

from tests.providers.kit import TOOLS
from windlass.core.errors import ModelError
from windlass.core.ports import LiveEvent

LONGEST_LINE = 4096


def read(data: bytes) -> None:
    heard: list[LiveEvent] = []
    assembly = Assembly(TOOLS, heard.append, provider="p1")
    try:
        _feed(assembly, data[1:], data[0] if data else 0)
        reply = assembly.reply()
    except (ModelError, LineTooLong):
        return
    assert reply.finish in ("stop", "tool_calls", "length")
    assert all(isinstance(json.loads(call.arguments), dict) for call in reply.calls)
    assert all(call.broken or call.name for call in reply.calls)


def _feed(assembly: Assembly, body: bytes, how: int) -> None:
    if how == 255:
        return assembly.feed_whole(body)
    stream, size = EventStream(LONGEST_LINE), how % 64 + 1
    for at in range(0, len(body), size):
        assembly.feed(*stream.feed(body[at : at + size]))
    assembly.feed(*stream.close())


if __name__ == "__main__":
    atheris.Setup(sys.argv, read)
    atheris.Fuzz()
