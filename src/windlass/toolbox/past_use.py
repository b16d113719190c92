"""Which tools the turns before a new one listed and called. Only as many of them are read as the question needs."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from windlass.core.fold import TurnView, fold
from windlass.core.messages import ChatMessage, Toolset
from windlass.store import HEAD, Store
from windlass.toolbox.tool_list import names_listed

MOST_TURNS = 30  # looked through at most


class PastUse:
    def __init__(
        self, store: Store, conversation_id: str, parent_id: str | None, opening: Sequence[ChatMessage] = ()
    ) -> None:
        """`opening`: the new turn's own messages, which may hold calls as well."""
        self._store = store
        self._opening = opening
        self._first_id = store.conversations.head(conversation_id) if parent_id == HEAD else parent_id
        self._read: list[TurnView] = []
        self._unread = self._parents()

    def last_list(self, toolset: Callable[[str], Toolset]) -> tuple[str, ...]:
        """What the last request with tools listed; () where that was all of them."""
        for view in self._turns():
            settings = view.started.settings
            if settings.toolset:
                return names_listed(toolset(settings.toolset), view) if settings.listed else ()
        return ()

    def called(self) -> Iterator[str]:
        """Names, the newest first."""
        yield from _called_in(self._opening)
        for view in self._turns():
            yield from reversed([call.call.name for call in view.calls])
            yield from _called_in(view.started.opening)

    def _turns(self) -> Iterator[TurnView]:
        yield from self._read
        for view in self._unread:
            self._read.append(view)
            yield view

    def _parents(self) -> Iterator[TurnView]:
        conversations, turn_id = self._store.conversations, self._first_id
        for _ in range(MOST_TURNS):
            if not turn_id:
                return
            yield fold([row.event for row in conversations.log(turn_id)])
            turn_id = conversations.turn(turn_id).parent_id


def _called_in(messages: Iterable[ChatMessage]) -> Iterator[str]:
    """Calls that came with messages, of an import or an API client."""
    return reversed([call.name for message in messages for call in message.calls])
