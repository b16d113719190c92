"""Which conversations changed, for readers of their list. Changes are gathered for a moment, and each row is read and
encoded once for all readers; without a reader nothing is gathered."""

import asyncio
from collections.abc import Callable, Iterator

from windlass.core.values import value_object

GATHER_S = 0.05


@value_object
class ConversationChanged:
    """`conversation` is its row as the list shows it, or None where it was deleted."""

    id: str
    conversation: object | None


Show = Callable[[str], ConversationChanged | None]  # None for what no list shows


class Changes:
    def __init__(self, publish: Callable[[list[ConversationChanged]], None]) -> None:
        self.show: Show = lambda _: None  # given by who knows what a row looks like
        self._publish = publish
        self._ids: dict[str, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def note(self, conversation_id: str) -> None:
        self._ids[conversation_id] = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_S, self._flush)

    def _flush(self) -> None:
        self._timer = None
        ids, self._ids = self._ids, {}
        self._publish(list(self._shown(ids)))

    def _shown(self, ids: dict[str, None]) -> Iterator[ConversationChanged]:
        for id in ids:
            if change := self.show(id):
                yield change
