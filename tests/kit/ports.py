"""Ports of loopback that stay what a test takes them for, however many tests run beside it."""

import itertools
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

# Below all that the kernel hands out by itself; each process begins at a place of its own.
_FIRST, _COUNT = 10_000, 20_000
_places = itertools.count(os.getpid() * 37)


def own_port() -> int:
    """For a server that must know its port before it starts, or come back on it."""
    for place in _places:
        port = _FIRST + place % _COUNT
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise AssertionError("every port is taken")


@contextmanager
def refusing_port() -> Iterator[int]:
    """Nobody listens there, and nobody can begin to: it is taken, without a listener."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
