"""Turns, one after another or many at once, timed, and every answer checked."""

import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

Ask = Callable[[str, str], Awaitable[bytes]]  # conversation, text -> everything that came back
_nonces = itertools.count()


class WrongAnswer(Exception):
    """Somebody did not do the work."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run of turns took; `cpu_s` is the measured process's own."""

    ms: tuple[float, ...]
    seconds: float
    cpu_s: float = 0

    @property
    def per_second(self) -> float:
        return len(self.ms) / self.seconds

    @property
    def cpu_us(self) -> float:
        return self.cpu_s / len(self.ms) * 1e6


async def run_turns(ask: Ask, order: str, conversations: Sequence[str], at_once: int) -> Sample:
    """One turn in each conversation, `at_once` of them at a time."""
    left = iter(conversations)
    took: list[float] = []

    async def work() -> None:
        for conversation in left:
            nonce = f"{os.getpid():x}n{next(_nonces)}"
            text, wanted = f"bench:{order}:{nonce}", expected(order, nonce)
            began = time.perf_counter()
            answer = await ask(conversation, text)
            took.append((time.perf_counter() - began) * 1000)
            if wanted not in answer:
                raise WrongAnswer(f"{text} was answered with {answer[-2000:].decode(errors='replace')}")

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())
    return Sample(tuple(took), time.perf_counter() - began)


def expected(order: str, nonce: str) -> bytes:
    match order.partition(":")[0]:
        case "s1":
            return f"done: {nonce} 2/2".encode()
        case "s2":
            return f"done: {nonce} 8/8".encode()
        case "paced":
            return b"text"
        case _:
            return nonce.encode()


def prior_messages(count: int) -> list[dict[str, str]]:
    """A history of ordinary messages, some 200 bytes each."""
    words = "This is what was said before, at the length that people and models use for most of what they say. "
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": f"{place}: {words}{words}"} for place in range(count)]
