"""What a run found, read as figures: each says itself in words and whether it meets floor and aim."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.proof.figures import Figures
from tests.proof.incidents import INCIDENTS
from tests.proof.rows import ROWS

EACH_KILL = "tests/faults/test_kills.py::test_a_turn_survives_a_kill_at"
SCREENS, KEYBOARD = "tests/browser/test_screens.py", "tests/browser/test_keyboard.py"


@dataclass(frozen=True, slots=True)
class Figure:
    """`met` is None when nothing was measured, and why is said; `aimed` when the aim is met too."""

    text: str
    met: bool | None
    aimed: bool = False


def counted(measure: str, floor: float, aim: float, words: str) -> Callable[[Figures], Figure]:
    """At least so many, and every test that counts asserts that nothing went wrong."""

    def figure(found: Figures) -> Figure:
        if measure not in found.notes:
            return Figure("-", None)
        count = found.total(measure)
        return Figure(f"{count:,.0f} {words}", count >= floor, count >= aim)

    return figure


def at_most(measure: str, name: str, floor: float, aim: float, unit: str) -> Callable[[Figures], Figure]:
    def figure(found: Figures) -> Figure:
        value = found.most(measure, name)
        return Figure("-", None) if value is None else Figure(f"{value:,.1f} {unit}", value <= floor, value <= aim)

    return figure


def races(found: Figures) -> Figure:
    orders, schedules = found.total("interleavings"), found.total("schedules")
    text = f"{orders:,.0f} orders, {schedules:,.0f} random schedules, 1 end each"
    return Figure(text, orders >= 60, orders >= 500) if orders else Figure("-", None)


def unmeasured(found: Figures) -> Figure:
    return Figure("-", None)


def kills(found: Figures) -> Figure:
    ended = found.ended(EACH_KILL)
    random = found.total("random kills")
    if not ended:
        return Figure("-", None)
    text = f"{ended.count('passed')}/{len(ended)}, and {random:,.0f} at random"
    met = len(ended) == 64 and ended.count("passed") == 64 and random > 0
    return Figure(text, met, met and random >= 1000)


def twice(found: Figures) -> Figure:
    kills = found.total("kill") + found.total("random kills")
    return Figure(f"0 in {kills:,.0f} kills", kills > 0, kills >= 10_000) if kills else Figure("-", None)


def rows(found: Figures) -> Figure:
    held = [row for row, tests in ROWS.items() if tests and found.held(*tests)]
    missing = [row.partition(" ")[0] for row in ROWS if row not in held]
    text = f"{len(held)} of {len(ROWS)}{_without(missing)}"
    return Figure(text, len(held) >= 40, len(held) >= 45) if found.outcomes else Figure("-", None)


def _without(missing: Sequence[str]) -> str:
    """The first few of them; a whole run leaves out no more."""
    return f" (not: {' '.join(missing[:4])}{' ...' if missing[4:] else ''})" if missing else ""


def fuzz(found: Figures) -> Figure:
    runs = {numbers["parser"]: 0.0 for numbers in found.notes.get("fuzz", [])}
    for numbers in found.notes.get("fuzz", []):
        runs[numbers["parser"]] += numbers["count"]
    if not runs:
        return Figure("-", None)
    text = ", ".join(f"{parser} {count:,.0f}" for parser, count in runs.items())
    return Figure(text, len(runs) == 4 and min(runs.values()) >= 1e6, min(runs.values()) >= 1e8)


def soak(found: Figures) -> Figure:
    notes = found.notes.get("soak")
    if not notes:
        return Figure("-", None)
    last = notes[-1]
    text = (
        f"{last['minutes']:.1f} min, {last['turns']:,.0f} turns: memory {last['memory']:+.1%},"
        f" descriptors {last['descriptors']:+.0f}, children {last['children']:+.0f}"
    )
    return Figure(text, last["minutes"] >= 9.9, last["minutes"] >= 479)


def big(found: Figures) -> Figure:
    memory, lag = found.most("big result", "memory_mb"), found.most("big result", "lag_ms")
    if memory is None or lag is None:
        return Figure("-", None)
    return Figure(f"+{memory:.0f} MB, lag p99 {lag:.0f} ms", memory <= 64 and lag <= 100, memory <= 16 and lag <= 20)


def injected(found: Figures) -> Figure:
    """Orders in text from outside that an obedient model followed."""
    if "injected effects" not in found.notes:
        return Figure("-", None)
    attacks, through, inside, named, needless, wanted = (
        found.total("injected effects", name)
        for name in ("attacks", "through", "inside", "named", "needless", "wanted")
    )
    text = (
        f"{attacks:,.0f} attacks, {through:,.0f} through; {inside:,.0f} inside what was granted, {named:,.0f} by a note"
        f" or description; {needless:,.0f} needless questions in {wanted:,.0f} calls a person asked for"
    )
    return Figure(text, attacks >= 100 and not through, attacks >= 500 and not through)


def none_through(measure: str, name: str, floor: float, aim: float, words: str) -> Callable[[Figures], Figure]:
    """At least so many, and none of them with this outcome."""

    def figure(found: Figures) -> Figure:
        if measure not in found.notes:
            return Figure("-", None)
        count, bad = found.total(measure), found.total(measure, name)
        return Figure(f"{count:,.0f} {words}, {bad:,.0f} {name}", count >= floor and not bad, count >= aim and not bad)

    return figure


def questions(found: Figures) -> Figure:
    """Of the seed's flows, and of an everyday browser session."""
    flows, cards = found.most("seed flows", "questions"), found.most("browser session", "questions")
    ruled = found.most("browser session", "with_a_rule")
    if flows is None or cards is None or ruled is None:
        return Figure("-", None)
    text = f"{flows:.0f} in the seed's flows; {cards:.0f} in a browser session, {ruled:.0f} with a rule"
    return Figure(text, not flows and cards <= 2 and not ruled, not flows and cards <= 1 and not ruled)


def cases(floor: int, aim: int, *tests: str) -> Callable[[Figures], Figure]:
    def figure(found: Figures) -> Figure:
        ended = [outcome for test in tests for outcome in found.ended(test)]
        if not ended:
            return Figure("-", None)
        passed, failed = ended.count("passed"), ended.count("failed")
        return Figure(f"{passed} cases, {failed} through", passed >= floor and not failed, passed >= aim and not failed)

    return figure


def incidents(found: Figures) -> Figure:
    held = [name for name, tests in INCIDENTS.items() if found.held(*tests)]
    missing = [name.partition(":")[0] for name in INCIDENTS if name not in held]
    text = f"{len(held)} of {len(INCIDENTS)}{_without(missing)}"
    return Figure(text, len(held) >= 25, not missing) if found.outcomes else Figure("-", None)


def coverage(found: Figures) -> Figure:
    percent = found.most("coverage", "percent")
    return Figure("-", None) if percent is None else Figure(f"{percent:.1f} %", percent >= 95, percent >= 100)


def axe(found: Figures) -> Figure:
    """The tests of the screens fail on any serious or critical finding."""
    ended, keys = found.ended(SCREENS), found.held(KEYBOARD)
    if "passed" not in ended:
        return Figure("-", None)
    screens = found.total("screens")
    return Figure(f"0 on {screens:.0f} screens" + (", keyboard alone" if keys else ""), screens > 0, keys)


def xss(found: Figures) -> Figure:
    """Sinks that were all given the most payloads; what is given to fewer does not count."""
    notes = found.notes.get("xss")
    if not notes:
        return Figure("-", None)
    most = max(one["payloads"] for one in notes)
    sinks = sum(one["sinks"] for one in notes if one["payloads"] == most)
    return Figure(f"{most:,.0f} x {sinks:.0f}, 0 ran, 0 requests outside", most >= 1000 and sinks >= 8)


def packages(found: Figures) -> Figure:
    """Whoever could not be asked is named; the floor is met only by those who answered."""
    notes = found.notes.get("audit", [])
    asked = [one for one in notes if not one.get("why")]
    text = "; ".join(f"{one['who']}: {one.get('why') or _findings(one)}" for one in notes) or "-"
    met = not sum(one["high"] for one in asked) if asked else None
    return Figure(text, met, bool(met) and len(asked) == len(notes))


def _findings(one: Mapping[str, Any]) -> str:
    return f"{one['high']:.0f} known-vulnerable of {one['packages']:,.0f}"
