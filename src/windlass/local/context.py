"""Context items: notes to a conversation that are joined to its system prompt."""

from dataclasses import replace
from typing import Any

import msgspec

from windlass import shapes
from windlass.core.errors import NotFound
from windlass.core.ids import new_id
from windlass.core.values import frozen
from windlass.local.one_by_one import OneByOne
from windlass.store import Documents, Store


@frozen
class KeptItem:
    """As it is kept; a turn reads the same rows without their ids."""

    id: str
    descriptive_name: str
    content: str
    related_keywords: tuple[str, ...] = ()
    related_files: tuple[str, ...] = ()


class Context:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._items: Documents[KeptItem] = store.documents("context", KeptItem)
        self._changes = OneByOne()

    async def all(self, conversation_id: str) -> shapes.ContextList:
        self._store.conversations.get(conversation_id)
        items = [_shown(item) for item in self._items.all(conversation_id)]
        return shapes.ContextList(items, len(items))

    async def add(self, conversation_id: str, new: shapes.NewContextItem) -> shapes.ContextAnswer:
        self._store.conversations.get(conversation_id)
        item = KeptItem(
            new_id("ctx"), new.descriptive_name, new.content, tuple(new.related_keywords), tuple(new.related_files)
        )
        await self._items.put(item.id, item, parent=conversation_id)
        return shapes.ContextAnswer(item.id, _shown(item), message="Context added")

    async def get(self, conversation_id: str, context_id: str) -> shapes.ContextAnswer:
        return shapes.ContextAnswer(context_id, _shown(self._found(conversation_id, context_id)))

    async def change(
        self, conversation_id: str, context_id: str, change: shapes.ContextItemChange
    ) -> shapes.ContextAnswer:
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in msgspec.structs.asdict(change).items()
            if value is not msgspec.UNSET
        }
        async with self._changes.at(context_id):
            item = replace(self._found(conversation_id, context_id), **given)
            await self._items.put(item.id, item, parent=conversation_id)
        return shapes.ContextAnswer(item.id, _shown(item), message="Context changed")

    async def delete(self, conversation_id: str, context_id: str) -> shapes.Done:
        async with self._changes.at(context_id):
            await self._items.delete(self._found(conversation_id, context_id).id)
        return shapes.Done(message="Context deleted")

    def _found(self, conversation_id: str, context_id: str) -> KeptItem:
        self._store.conversations.get(conversation_id)
        for item in self._items.all(conversation_id):
            if item.id == context_id:
                return item
        hint = "GET /conversations/{id}/context shows those that are there."
        raise NotFound(f"There is no context item {context_id[:100]} in this conversation.", hint=hint)


def _shown(item: KeptItem) -> shapes.ContextItem:
    return shapes.ContextItem(
        item.id, item.descriptive_name, list(item.related_keywords), list(item.related_files), item.content
    )
