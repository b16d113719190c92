"""Another program that has the database, so that whatever is written meanwhile has to wait."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.kit.waiting import until


@asynccontextmanager
async def held(folder: Path) -> AsyncIterator[None]:
    other = sqlite3.connect(folder / "windlass.db", isolation_level=None, timeout=0)
    await until(lambda: _taken(other), "the file to be free")
    try:
        yield
    finally:
        other.close()


def _taken(other: sqlite3.Connection) -> bool:
    try:
        other.execute("begin immediate")
    except sqlite3.OperationalError:
        return False
    return True
