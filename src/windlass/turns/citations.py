"""Which sources an answer cites. Pure: `[7]` with five sources is found out, `a[1]` and code are left alone."""

import re
from collections.abc import Iterator

from windlass.core.values import value_object

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DEFINITION = re.compile(r" {0,3}\[\d+\]:")
_BRACKETS = re.compile(
    r"\[(\d{1,3}(?:\s?[,;\N{EN DASH}-]\s?\d{1,3}){0,20})\]|\u3010(\d{1,3})[^\u3010\u3011]{0,20}\u3011"
)
_RANGE = re.compile(r"(\d+)\s?[\N{EN DASH}-]\s?(\d+)")
_LETTERS_BEFORE = re.compile(r"[A-Za-z0-9_]+$")
_WIDEST_RANGE = 20


@value_object
class Citations:
    """Both in the order of their first use; `unknown` are numbers that no source has."""

    cited: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()


def citations(answer: str, sources: int) -> Citations:
    numbers = dict.fromkeys(_numbers(_prose(answer), sources))
    return Citations(
        tuple(n for n in numbers if 1 <= n <= sources),
        tuple(n for n in numbers if n > sources),
    )


def _numbers(prose: str, sources: int) -> Iterator[int]:
    end_of_last = -1
    for found in _BRACKETS.finditer(prose):
        if found[2] is not None:
            yield int(found[2])
            continue
        numbers = list(_listed(found[1]))
        if found.start() == end_of_last or _stands_alone(prose, found.start(), max(numbers, default=0) <= sources):
            yield from numbers
            end_of_last = found.end()


def _stands_alone(prose: str, start: int, known: bool) -> bool:
    """Not an index and not a list. Models do glue citations to words: `raining[1]` is one where it can be."""
    before = prose[max(0, start - 40) : start]
    if before.rstrip(" ").endswith("="):
        return False
    if before.endswith((")", "]", "_", "$")):
        return False
    letters = _LETTERS_BEFORE.search(before)
    return letters is None or (known and len(letters[0]) > 2 and letters[0].isalpha() and letters[0].islower())


def _listed(inside: str) -> Iterator[int]:
    for part in re.split(r"[,;]", inside):
        span = _RANGE.search(part)
        first, last = (int(span[1]), int(span[2])) if span else (int(part), int(part))
        yield from range(first, min(last, first + _WIDEST_RANGE) + 1)


def _prose(answer: str) -> str:
    """The answer less its code blocks, code spans and link definitions."""
    lines: list[str] = []
    fence = ""
    for line in answer.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
        elif mark:
            fence = mark[1]
        elif not _DEFINITION.match(line):
            lines.append(line)
    return _without_spans("\n".join(lines))


def _without_spans(text: str) -> str:
    """A run of backticks closes at the next run of the same length; one without a partner is just backticks."""
    runs = list(re.finditer("`+", text))
    partner: list[int | None] = [None] * len(runs)
    latest: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        partner[index] = latest.get(len(runs[index][0]))
        latest[len(runs[index][0])] = index
    kept, index, end = [], 0, 0
    while index < len(runs):
        closing = partner[index]
        if closing is not None:
            kept.append(text[end : runs[index].start()])
            end, index = runs[closing].end(), closing
        index += 1
    return "`".join([*kept, text[end:]])
