"""Waiting for what no event of ours can tell: what another process does, and what is ready to run."""

import asyncio
import time
from collections.abc import Awaitable, Callable

PATIENCE_S = 90.0


async def turns_of_the_loop(count: int = 1) -> None:
    """Let whatever is ready run up to where it waits. No time passes: this is for what may, or may not, happen between
    two turns of the test's own loop."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(condition: Callable[[], bool], what: str = "the condition", patience_s: float = PATIENCE_S) -> None:
    """Return as soon as the condition holds; fail with a sentence if it never does."""
    try:
        async with asyncio.timeout(patience_s):
            while not condition():  # noqa: ASYNC110 - files and processes cannot set an event of ours
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"waited {patience_s:g} s in vain for {what}") from None


async def until_found(look: Callable[[], Awaitable[object]], what: str, patience_s: float = PATIENCE_S) -> None:
    """The same for what must be asked for: until the answer is neither empty nor nothing."""
    try:
        async with asyncio.timeout(patience_s):
            while not await look():  # noqa: ASYNC110 - the same
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"waited {patience_s:g} s in vain for {what}") from None


def wait_for(condition: Callable[[], bool], what: str = "the condition", patience_s: float = PATIENCE_S) -> None:
    """The same for tests without a loop."""
    ends = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > ends:
            raise AssertionError(f"waited {patience_s:g} s in vain for {what}")
        time.sleep(0.005)
