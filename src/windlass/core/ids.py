"""Sortable ids: a prefix and a UUIDv7 in 26 letters, so that a list by id is a list by time."""

import os
import time

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]  # two letters at a time: ids are made often


class Clock:
    last = 0  # two ids of one millisecond still sort as they were made: the newest turn is the one with the largest id


def new_id(prefix: str) -> str:
    """`turn-06fq…`: 48 bits of milliseconds, then 74 random ones."""
    stamp = time.time_ns() // 1_000_000
    noise = int.from_bytes(os.urandom(10))
    number = stamp << 80 | 0x7 << 76 | (noise >> 68) << 64 | 0b10 << 62 | noise & (1 << 62) - 1
    Clock.last = max(number, Clock.last + 1)
    return f"{prefix}-{_letters(Clock.last)}"


def call_id(turn_id: str, reply: int, index: int) -> str:
    """It follows from the call's position, so a replay gives the same one. Some providers take 40 letters at most."""
    return f"call_{turn_id.partition('-')[2]}_{reply}_{index}"


def _letters(number: int) -> str:
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])
