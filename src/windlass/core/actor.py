"""Who is asking, for what is written down: the name of a token or of the session it opened. Set where a request enters;
the tasks it starts inherit it. A program that embeds Windlass, and a server without tokens, act as "person"."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_name: ContextVar[str] = ContextVar("actor", default="person")


def current_actor() -> str:
    return _name.get()


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    before = _name.set(name)
    try:
        yield
    finally:
        _name.reset(before)
