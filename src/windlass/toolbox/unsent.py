"""Calls that wait for a sign-in before they are sent. Their start is in the log, so a restart would take them for
interrupted ones whose outcome is unknown; what is kept here says that nothing was sent."""

from collections.abc import Iterator
from contextlib import contextmanager

from windlass.core.values import value_object
from windlass.store import Documents


@value_object
class UnsentCall:
    call_id: str


class UnsentCalls:
    def __init__(self, kept: Documents[UnsentCall]) -> None:
        self._kept = kept
        self._ids = {one.call_id for one in kept.everything()}
        self._waiting: dict[str, str] = {}

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._ids

    def server_of(self, call_id: str) -> str:
        """The server whose sign-in a call waits for just now; "" for none."""
        return self._waiting.get(call_id, "")

    @contextmanager
    def waiting(self, call_id: str, server_id: str) -> Iterator[None]:
        self._waiting[call_id] = server_id
        try:
            yield
        finally:
            del self._waiting[call_id]

    async def add(self, call_id: str, conversation_id: str) -> None:
        await self._kept.put(call_id, UnsentCall(call_id), parent=conversation_id)
        self._ids.add(call_id)

    async def forget(self, call_id: str) -> None:
        """On disk before the call is sent: from then on nobody can tell."""
        await self._kept.delete(call_id)
        self._ids.discard(call_id)
