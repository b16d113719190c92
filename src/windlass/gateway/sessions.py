"""Sessions of the protocol with a handshake, over HTTP. A token has room for so many, so that none takes that of the
others, and they end with it."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from windlass.core.errors import Unavailable

MOST_OF_TOKEN = 50
Began = Callable[[str], None]


class ProgramSession:
    """`requests`: how many of it are being answered; a stream that listens is one."""

    __slots__ = ("requests", "token_id")

    def __init__(self, token_id: str) -> None:
        self.token_id = token_id
        self.requests = 1


class ProgramSessions:
    def __init__(self, end: Callable[[str, str], Awaitable[None]]) -> None:
        self._end = end  # the session of this id and token
        self._open: OrderedDict[str | object, ProgramSession] = OrderedDict()  # the one that was used last is the last

    @asynccontextmanager
    async def opening(self, token_id: str) -> AsyncIterator[Began]:
        """A handshake, which counts from here on; its session has no id before the answer begins. Where the token has
        too many, the one that was idle for the longest time ends."""
        idle = self._in_the_way(token_id)
        slot, session = object(), ProgramSession(token_id)
        self._open[slot] = session

        def began(session_id: str) -> None:
            self._open[session_id] = self._open.pop(slot)

        try:
            if idle:
                await self._ended(idle)
            yield began
        finally:
            session.requests -= 1
            self._open.pop(slot, None)

    @contextmanager
    def used(self, session_id: str, token_id: str) -> Iterator[None]:
        if session_id not in self._of_token(token_id):  # it has ended, or never began
            yield
            return
        session = self._open[session_id]
        self._open.move_to_end(session_id)
        session.requests += 1
        try:
            yield
        finally:
            session.requests -= 1

    def forget(self, session_id: str, token_id: str) -> None:
        if session_id in self._of_token(token_id):
            del self._open[session_id]

    async def end_all(self, token_id: str) -> None:
        for session_id in self._of_token(token_id):
            await self._ended(session_id)

    def _in_the_way(self, token_id: str) -> str:
        own = [session for session in self._open.values() if session.token_id == token_id]
        if len(own) < MOST_OF_TOKEN:
            return ""
        if idle := next((id for id in self._of_token(token_id) if not self._open[id].requests), ""):
            return idle
        raise Unavailable(
            f"This token has {MOST_OF_TOKEN} sessions, and all are in use.",
            hint="Close a program that uses it, or give each program a token of its own.",
            code="too_many_sessions",
        )

    async def _ended(self, session_id: str) -> None:
        if session := self._open.pop(session_id, None):
            await self._end(session_id, session.token_id)

    def _of_token(self, token_id: str) -> list[str]:
        """Oldest use first, without those that are opening."""
        return [id for id, session in self._open.items() if session.token_id == token_id and isinstance(id, str)]
