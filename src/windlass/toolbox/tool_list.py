"""Which of a turn's tools its requests list. Up to a budget all of them; beyond it those that the chat has used, those
that somebody picked, and a search for the others. All of them are judged and run alike: the list only saves tokens.

The list of a turn begins as the one before it ended and grows at its end, so that the provider can go on with what it
computed for the same beginning. Pure: the log alone says what was loaded."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Sequence

import msgspec

from windlass.core.fold import TurnView
from windlass.core.messages import PYTHON, Toolset, ToolSpec
from windlass.core.values import value_object
from windlass.toolbox.matching import properties_of
from windlass.toolbox.offers import LETTERS_PER_TOKEN

TOOLS_SEARCH = "tools_search"
INSIDE = frozenset({"windlass", "caller", "provider"})  # built in, an API client's own, the provider's: always listed
ROOM = 16  # of the wire's limit, kept free for what a turn loads
MOST_LISTED = 128  # as OpenAI and the servers that follow its API take
LEAST_USED = 8  # so many of the tools that the chat used stay, however many were picked


@value_object
class ToolBudget:
    """Beyond one of these the tools are searched. `most`: the wire refuses more; 0 where nothing is beyond."""

    tools: int = 40
    tokens: int = 15_000
    most: int = MOST_LISTED

    def holds(self, specs: Sequence[ToolSpec]) -> bool:
        if not self.most:
            return True
        counted = [spec for spec in specs if spec.server not in INSIDE]
        return len(specs) <= self.most and len(counted) <= self.tools and tokens_of(counted) <= self.tokens


@value_object
class TurnToolset:
    """The tools that a turn may use, and those that its first request lists; `names` is empty where that is all."""

    all: Toolset = Toolset()
    listed: Toolset = Toolset()
    names: tuple[str, ...] = ()


def tokens_of(specs: Sequence[ToolSpec]) -> int:
    """An estimate, as wherever tokens of tools are shown."""
    return sum((len(one.name) + len(one.description) + len(one.schema)) // LETTERS_PER_TOKEN for one in specs)


def toolset_of(specs: Sequence[ToolSpec]) -> Toolset:
    if not specs:
        return Toolset()
    digest = hashlib.sha256(msgspec.json.encode(specs)).hexdigest()[:32]
    return Toolset(digest, tuple(specs))


def part_of(toolset: Toolset, names: Sequence[str]) -> Toolset:
    return toolset_of([toolset.by_name[name] for name in names])


def first_names(
    toolset: Toolset,
    budget: ToolBudget,
    *,
    is_picked: Callable[[ToolSpec], bool],
    before: Sequence[str] = (),
    used: Callable[[], Sequence[str]] = lambda: (),
) -> tuple[str, ...]:
    """What the first request of a turn lists. `before`: the last list of the turn before; `used`: what the chat called,
    the newest first, asked only where not all of that can stay."""
    inside = [spec.name for spec in toolset.tools if spec.server in INSIDE]
    picked = [spec.name for spec in toolset.tools if spec.server not in INSIDE and _is_picked(spec, is_picked)]
    picked = picked[: max(0, budget.most - ROOM - len(inside))]
    known = [name for name in before if name in toolset.by_name]
    if not known:
        known = [*inside, *picked, *(name for name in reversed(dict.fromkeys(used())) if name in toolset.by_name)]
    names = list(dict.fromkeys((*known, *inside, *picked)))
    if budget.holds([toolset.by_name[name] for name in names]):
        return tuple(names)
    kept = {*inside, *picked}
    kept |= set(_fitting(toolset, budget, kept, [name for name in used() if name not in kept]))
    return tuple(name for name in names if name in kept)


def _is_picked(spec: ToolSpec, is_picked: Callable[[ToolSpec], bool]) -> bool:
    return spec.server == PYTHON or is_picked(spec)


def _fitting(toolset: Toolset, budget: ToolBudget, kept: Collection[str], used: Sequence[str]) -> Iterator[str]:
    specs = [toolset.by_name[name] for name in kept]
    for count, name in enumerate(name for name in dict.fromkeys(used) if name in toolset.by_name):
        specs.append(toolset.by_name[name])
        if len(specs) > budget.most - ROOM or (count >= LEAST_USED and not budget.holds(specs)):
            return
        yield name


def names_listed(toolset: Toolset, view: TurnView) -> tuple[str, ...]:
    """What the next request of a turn lists: its first list, then what was loaded since, in that order. At the wire's
    limit the first ones loaded make room, which the model may still call."""
    settings = view.started.settings
    loaded = dict.fromkeys(name for name in _loaded(view) if name in toolset.by_name and name not in settings.listed)
    room = max(0, settings.most_listed - len(settings.listed))
    newest = list(dict.fromkeys(reversed([*_loaded(view)])))
    staying = set([name for name in newest if name in loaded][:room])
    return (*settings.listed, *(name for name in loaded if name in staying))


def listed_toolset(toolset: Toolset, view: TurnView) -> Toolset:
    return part_of(toolset, names_listed(toolset, view)) if view.started.settings.listed else toolset


def _loaded(view: TurnView) -> Iterator[str]:
    """A tool that was called without being listed is loaded by that."""
    for round_ in view.rounds:
        for call in round_.calls:
            yield call.call.name
            if call.finished:
                yield from call.finished.output.loads


def undeclared(spec: ToolSpec, arguments: str) -> list[str]:
    """Arguments that the schema does not name. A model that has not seen it guesses, and a tool that ignores what it
    does not know would do something else than it was asked for."""
    if json.loads(spec.schema).get("additionalProperties"):
        return []
    known = properties_of(spec.schema)
    return [f"{name[:100]!r} is no argument of it" for name in json.loads(arguments) if name not in known]
