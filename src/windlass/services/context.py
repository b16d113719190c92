"""Context items: notes to a conversation that are joined to its system prompt. Their keywords and files are labels: an
item that came and went with the words of a message would change the prompt, and a file that a request names would be
read past every permission. To let the model read files, enable the tools of a file server."""

from dataclasses import replace
from typing import Any

import msgspec

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.core.errors import NotFound
from windlass.core.ids import new_id
from windlass.core.values import value_object
from windlass.services.keyed_lock import KeyedLock
from windlass.store import Documents, Store


@value_object
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
        self._changes = KeyedLock()

    @serves(routes.context.all)
    async def all(self, conversation_id: str) -> schemas.ContextList:
        self._store.conversations.get(conversation_id)
        items = [_shown(item) for item in self._items.all(conversation_id)]
        return schemas.ContextList(items, len(items))

    @serves(routes.context.add)
    async def add(self, conversation_id: str, new: schemas.NewContextItem) -> schemas.ContextAnswer:
        self._store.conversations.get(conversation_id)
        item = KeptItem(
            new_id("ctx"), new.descriptive_name, new.content, tuple(new.related_keywords), tuple(new.related_files)
        )
        await self._items.put(item.id, item, parent=conversation_id)
        return schemas.ContextAnswer(item.id, _shown(item), message="Context added")

    @serves(routes.context.get)
    async def get(self, conversation_id: str, context_id: str) -> schemas.ContextAnswer:
        return schemas.ContextAnswer(context_id, _shown(self._found(conversation_id, context_id)))

    @serves(routes.context.change)
    async def change(
        self, conversation_id: str, context_id: str, change: schemas.ContextItemChange
    ) -> schemas.ContextAnswer:
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in msgspec.structs.asdict(change).items()
            if value is not msgspec.UNSET
        }
        async with self._changes.hold(context_id):
            item = replace(self._found(conversation_id, context_id), **given)
            await self._items.put(item.id, item, parent=conversation_id)
        return schemas.ContextAnswer(item.id, _shown(item), message="Context changed")

    @serves(routes.context.delete)
    async def delete(self, conversation_id: str, context_id: str) -> schemas.Acknowledged:
        async with self._changes.hold(context_id):
            await self._items.delete(self._found(conversation_id, context_id).id)
        return schemas.Acknowledged(message="Context deleted")

    def _found(self, conversation_id: str, context_id: str) -> KeptItem:
        self._store.conversations.get(conversation_id)
        for item in self._items.all(conversation_id):
            if item.id == context_id:
                return item
        hint = "GET /conversations/{id}/context shows those that are there."
        raise NotFound(f"There is no context item {context_id[:100]} in this chat.", hint=hint)


def _shown(item: KeptItem) -> schemas.ContextItem:
    return schemas.ContextItem(
        item.id, item.descriptive_name, list(item.related_keywords), list(item.related_files), item.content
    )
