"""Imports under way. One that does not come to its end leaves nothing, also when the process ends in its middle."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from windlass.core.errors import NotFound
from windlass.core.values import value_object
from windlass.store import Documents, Store


@value_object
class Import:
    conversation_id: str

    @property
    def key(self) -> str:
        """Not the conversation's own id: what belongs to that goes when this row goes."""
        return f"import-{self.conversation_id}"


class Imports:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._begun: Documents[Import] = store.documents("import", Import)

    @asynccontextmanager
    async def whole(self, conversation_id: str) -> AsyncIterator[None]:
        begun = Import(conversation_id)
        try:
            await self._begun.put(begun.key, begun, parent=conversation_id)
            yield
            await self._begun.delete(begun.key)
        except BaseException:  # half an import is none, also when whoever sent it has gone
            with suppress(NotFound):
                await self._store.conversations.delete(conversation_id)
            raise

    async def sweep(self) -> None:
        """At start: what was cut in two."""
        for begun in self._begun.everything():
            with suppress(NotFound):
                await self._store.conversations.delete(begun.conversation_id)
            await self._begun.delete(begun.key)
