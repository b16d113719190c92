"""The names under which tools are offered to a model: their own where possible, `slug__name` where two would clash, and
always the same for the same tools, in the same order, so that prompt caches hold."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable

LONGEST = 64
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")

Key = tuple[str, str]  # a server's slug and the tool's own name


def offered_names(tools: Iterable[Key], reserved: Collection[str] = ()) -> dict[Key, str]:
    """Each step names only what the step before left ambiguous; the result does not depend on the order given."""
    names = dict.fromkeys(sorted(set(tools)), "")
    for name in (_own, _prefixed, _marked):
        _name_the_unclear(names, name, set(reserved))
    return names


def _name_the_unclear(names: dict[Key, str], name: Callable[[Key], str], reserved: set[str]) -> None:
    taken = Counter(names.values())
    for key, given in names.items():
        if not given or taken[given] > 1 or given in reserved:
            names[key] = name(key)


def _own(key: Key) -> str:
    return _fitting(key[1], key)


def _prefixed(key: Key) -> str:
    return _fitting(f"{key[0]}__{key[1]}", key)


def _marked(key: Key) -> str:
    """For what is still ambiguous: two names that differ only in letters no wire accepts."""
    return f"{_prefixed(key)[: LONGEST - 9]}_{_mark(key)}"


def _fitting(name: str, key: Key) -> str:
    clean = _NOT_ALLOWED.sub("_", name) or "unnamed"
    return clean if len(clean) <= LONGEST else f"{clean[: LONGEST - 9]}_{_mark(key)}"


def _mark(key: Key) -> str:
    return hashlib.sha256("\0".join(key).encode()).hexdigest()[:8]
