"""Long work on the event loop, done in slices, so that whatever else waits gets its turn in between."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

T = TypeVar("T")
SLICE_S = 0.01


async def sliced(items: Iterable[T]) -> AsyncIterator[T]:
    due = time.monotonic() + SLICE_S
    for item in items:
        yield item
        if time.monotonic() > due:
            await asyncio.sleep(0)
            due = time.monotonic() + SLICE_S
