"""The ledger server over streamable HTTP, for as long as a test needs it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.kit.ledger_file import Ledger


@asynccontextmanager
async def ledger_http(ledger: Ledger, *options: str, port: int = 0) -> AsyncIterator[str]:
    """Gives the server's address. Network faults: `--http-fault 401@2` and others, see `ledger/streamable.py`."""
    argv = ledger.argv("--http", str(port), *options)
    process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield json.loads(await process.stdout.readline())["url"]
    finally:
        process.kill()
        await process.wait()
