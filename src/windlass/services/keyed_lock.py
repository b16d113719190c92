"""Changes of one row, one after the other: each sees what the one before it wrote, so none is lost."""

import asyncio
from weakref import WeakValueDictionary


class KeyedLock:
    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def hold(self, id: str) -> asyncio.Lock:
        return self._locks.setdefault(id, asyncio.Lock())
