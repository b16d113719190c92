"""Servers that are gone: calls made to them keep the name they were made under."""

from windlass.core.values import value_object
from windlass.store import Documents, Store


@value_object
class FormerServer:
    id: str
    slug: str


class DeletedServers:
    def __init__(self, store: Store) -> None:
        self._kept: Documents[FormerServer] = store.documents("former_server", FormerServer)
        self.slugs = {one.id: one.slug for one in self._kept.all()}

    async def add(self, id: str, slug: str) -> None:
        self.slugs[id] = slug
        await self._kept.put(id, FormerServer(id, slug))
