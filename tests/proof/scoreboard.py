"""The scoreboard: each measure with its floor, its aim and our figure. What was not measured is said, never passed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.proof.figures import Figures
from tests.proof.incidents import INCIDENTS
from tests.proof.mutations import MUTATIONS
from tests.proof.rows import ROWS


@dataclass(frozen=True, slots=True)
class Figure:
    """`met` is None when nothing was measured, and why is said; `aimed` when the aim is met too."""

    text: str
    met: bool | None
    aimed: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """`tests` show it: one that fails misses the floor, whatever was counted until then. `elsewhere` is why a whole run
    may leave it unmeasured."""

    name: str
    floor: str
    aim: str
    figure: Callable[[Figures], Figure]
    tests: tuple[str, ...] = ()
    elsewhere: str = ""


def figures_of(found: Figures) -> list[tuple[Measure, Figure]]:
    return [(measure, _figure(measure, found)) for measure in MEASURES]


def _figure(measure: Measure, found: Figures) -> Figure:
    figure = measure.figure(found)
    if any(found.crashed(test) for test in measure.tests):
        return Figure("crashed" if figure.met is None else f"crashed; {figure.text}", False)
    if failed := sum(outcome == "failed" for test in measure.tests for outcome in found.ended(test)):
        return Figure(f"{failed} failed; {figure.text}", False)
    return Figure(measure.elsewhere, None) if figure.text == "-" and measure.elsewhere else figure


def drawn(rows: Iterable[tuple[Measure, Figure]]) -> str:
    cells = [("measure", "floor", "aim", "here", "")]
    cells += [(m.name, m.floor, m.aim, f.text, _verdict(f)) for m, f in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(5)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _verdict(figure: Figure) -> str:
    if figure.met is None:
        return "NOT MEASURED"
    if not figure.met:
        return "MISSED"
    return "aim" if figure.aimed else "floor"


def _counted(measure: str, floor: float, aim: float, words: str) -> Callable[[Figures], Figure]:
    """At least so many, and every test that counts asserts that nothing went wrong."""

    def figure(found: Figures) -> Figure:
        if measure not in found.notes:
            return Figure("-", None)
        count = found.total(measure)
        return Figure(f"{count:,.0f} {words}", count >= floor, count >= aim)

    return figure


def _at_most(measure: str, name: str, floor: float, aim: float, unit: str) -> Callable[[Figures], Figure]:
    def figure(found: Figures) -> Figure:
        value = found.most(measure, name)
        return Figure("-", None) if value is None else Figure(f"{value:,.1f} {unit}", value <= floor, value <= aim)

    return figure


def _unmeasured(found: Figures) -> Figure:
    return Figure("-", None)


def _kills(found: Figures) -> Figure:
    ended = found.ended(KILLS[0])
    random = found.total("random kills")
    if not ended:
        return Figure("-", None)
    text = f"{ended.count('passed')}/{len(ended)}, and {random:,.0f} at random"
    met = len(ended) == 64 and ended.count("passed") == 64 and random > 0
    return Figure(text, met, met and random >= 1000)


def _twice(found: Figures) -> Figure:
    kills = found.total("kill") + found.total("random kills")
    return Figure(f"0 in {kills:,.0f} kills", kills > 0, kills >= 10_000) if kills else Figure("-", None)


def _rows(found: Figures) -> Figure:
    held = [row for row, tests in ROWS.items() if tests and found.held(*tests)]
    missing = [row.partition(" ")[0] for row in ROWS if row not in held]
    text = f"{len(held)} of {len(ROWS)}{_without(missing)}"
    return Figure(text, len(held) >= 40, len(held) >= 45) if found.outcomes else Figure("-", None)


def _without(missing: Sequence[str]) -> str:
    """The first few of them; a whole run leaves out no more."""
    return f" (not: {' '.join(missing[:4])}{' ...' if missing[4:] else ''})" if missing else ""


def _fuzz(found: Figures) -> Figure:
    runs = {numbers["parser"]: 0.0 for numbers in found.notes.get("fuzz", [])}
    for numbers in found.notes.get("fuzz", []):
        runs[numbers["parser"]] += numbers["count"]
    if not runs:
        return Figure("-", None)
    text = ", ".join(f"{parser} {count:,.0f}" for parser, count in runs.items())
    return Figure(text, len(runs) == 4 and min(runs.values()) >= 1e6, min(runs.values()) >= 1e8)


def _soak(found: Figures) -> Figure:
    notes = found.notes.get("soak")
    if not notes:
        return Figure("-", None)
    last = notes[-1]
    text = (
        f"{last['minutes']:.1f} min, {last['turns']:,.0f} turns: memory {last['memory']:+.1%},"
        f" descriptors {last['descriptors']:+.0f}, children {last['children']:+.0f}"
    )
    return Figure(text, last["minutes"] >= 9.9, last["minutes"] >= 479)


def _big(found: Figures) -> Figure:
    memory, lag = found.most("big result", "memory_mb"), found.most("big result", "lag_ms")
    if memory is None or lag is None:
        return Figure("-", None)
    return Figure(f"+{memory:.0f} MB, lag p99 {lag:.0f} ms", memory <= 64 and lag <= 100, memory <= 16 and lag <= 20)


def _cases(floor: int, aim: int, *tests: str) -> Callable[[Figures], Figure]:
    def figure(found: Figures) -> Figure:
        ended = [outcome for test in tests for outcome in found.ended(test)]
        if not ended:
            return Figure("-", None)
        passed, failed = ended.count("passed"), ended.count("failed")
        return Figure(f"{passed} cases, {failed} through", passed >= floor and not failed, passed >= aim and not failed)

    return figure


def _incidents(found: Figures) -> Figure:
    held = [name for name, tests in INCIDENTS.items() if found.held(*tests)]
    missing = [name.partition(":")[0] for name in INCIDENTS if name not in held]
    text = f"{len(held)} of {len(INCIDENTS)}{_without(missing)}"
    return Figure(text, len(held) >= 25, not missing) if found.outcomes else Figure("-", None)


def _coverage(found: Figures) -> Figure:
    percent = found.most("coverage", "percent")
    return Figure("-", None) if percent is None else Figure(f"{percent:.1f} %", percent >= 95, percent >= 100)


def _axe(found: Figures) -> Figure:
    """The tests of the screens fail on any serious or critical finding."""
    ended, keys = found.ended(AXE[0]), found.held(AXE[1])
    if "passed" not in ended:
        return Figure("-", None)
    screens = found.total("screens")
    return Figure(f"0 on {screens:.0f} screens" + (", keyboard alone" if keys else ""), screens > 0, keys)


def _xss(found: Figures) -> Figure:
    """Sinks that were all given the most payloads; what is given to fewer does not count."""
    notes = found.notes.get("xss")
    if not notes:
        return Figure("-", None)
    most = max(one["payloads"] for one in notes)
    sinks = sum(one["sinks"] for one in notes if one["payloads"] == most)
    return Figure(f"{most:,.0f} x {sinks:.0f}, 0 ran, 0 requests outside", most >= 1000 and sinks >= 8)


def _packages(found: Figures) -> Figure:
    """Whoever could not be asked is named; the floor is met only by those who answered."""
    notes = found.notes.get("audit", [])
    asked = [one for one in notes if not one.get("why")]
    text = "; ".join(f"{one['who']}: {one.get('why') or _findings(one)}" for one in notes) or "-"
    met = not sum(one["high"] for one in asked) if asked else None
    return Figure(text, met, bool(met) and len(asked) == len(notes))


def _findings(one: Mapping[str, Any]) -> str:
    return f"{one['high']:.0f} known-vulnerable of {one['packages']:,.0f}"


SSRF = (
    "tests/search/test_guard.py::test_no_form_of_a_private_address_is_dialled",
    "tests/search/test_guard.py::test_no_redirect_leads_to_a_private_address",
)
GUARD = (
    "tests/web/test_guard.py::test_only_our_own_names_are_answered",
    "tests/web/test_guard.py::test_only_our_own_origin_is_answered_whatever_the_method",
    "tests/web/test_guard.py::test_another_site_may_open_the_page_and_nothing_else",
    "tests/web/test_guard.py::test_writes_take_json_only",
    "tests/web/test_access.py::test_every_route_refuses_strangers",
)

FAULTS, MEASURED = "tests/faults", "tests/proof/test_measures.py"
KILLS = (
    f"{FAULTS}/test_kills.py::test_a_turn_survives_a_kill_at",
    f"{FAULTS}/test_kills.py",
    "tests/proof/test_rows.py",
)
CUTS = (
    f"{FAULTS}/test_model.py",
    "tests/providers/test_corpus.py::test_a_stream_cut_at_any_byte_never_passes_for_whole",
)
FUZZ = (f"{FAULTS}/test_fuzz.py", f"{FAULTS}/test_guided.py")
BAD_INPUTS = (f"{FAULTS}/test_requests.py", "tests/web/test_fuzz.py")
WATCHERS = (f"{MEASURED}::test_idle_watchers_cost_little_and_too_many_are_survived",)
XSS = ("tests/browser/test_xss.py",)
AXE = ("tests/browser/test_screens.py", "tests/browser/test_keyboard.py")
RACES = (f"{FAULTS}/test_races.py", f"{FAULTS}/test_schedules.py")
IMPORTED = ("tests/proof/test_incidents.py::test_cve_2026_40933_langflow_and_localai_9394_no_import_starts_anything",)

MEASURES = (
    Measure("kill points x modes, nothing lost", "64/64", "+ 1,000 random, 0", _kills, KILLS),
    Measure("duplicate non-idempotent effects", "0", "0 in 10,000 kill runs", _twice, KILLS),
    Measure("fault matrix rows automated", "40", "all 45", _rows),
    Measure("SSE cut positions", "10,000", "100,000, 0 wrong", _counted("cuts", 1e4, 1e5, "cuts, 0 shown whole"), CUTS),
    Measure(
        "reconnects with exact transcript",
        "1,000",
        "100,000",
        _counted("reconnects", 1000, 1e5, "reconnects"),
        (f"{FAULTS}/test_reconnects.py", f"{FAULTS}/test_kills.py"),
    ),
    Measure(
        "stop, approve and finish interleaved", "60", "all", _counted("interleavings", 60, 250, "orders, 1 end"), RACES
    ),
    Measure("Postgres restarts survived", "50", "500", _unmeasured, elsewhere="there is no Postgres store yet"),
    Measure("fuzz, each of four parsers", "10^6", "10^8", _fuzz, FUZZ),
    Measure(
        "API bad inputs",
        "20,000, 0 x 5xx",
        "1,000,000",
        _counted("bad inputs", 2e4, 1e6, "requests, 0 x 5xx"),
        BAD_INPUTS,
    ),
    Measure("idle SSE, one process", "10,000", "20,000+", _counted("idle watchers", 1e4, 2e4, "watchers"), WATCHERS),
    Measure(
        "memory of an idle watcher", "30 KB", "25 KB", _at_most("idle watchers", "kb", 30, 25, "KB each"), WATCHERS
    ),
    Measure(
        "200 streaming runs, p99 added latency",
        "50 ms",
        "1,000 runs",
        _at_most("streams", "ms", 50, 0, "ms"),
        (f"{MEASURED}::test_many_streams_at_once_are_passed_on_in_time",),
    ),
    Measure(
        "soak",
        "10 min, drift printed",
        "8 h, memory < 2 %",
        _soak,
        (f"{MEASURED}::test_a_long_run_leaves_nothing_behind",),
    ),
    Measure(
        "restart to ready, 100k conversations",
        "3 s",
        "1 s",
        _at_most("restart", "s", 3, 1, "s"),
        (f"{MEASURED}::test_a_start_with_many_conversations_is_quick",),
    ),
    Measure(
        "stop confirmed, p99",
        "2,000 ms",
        "300 ms",
        _at_most("stop", "ms", 2000, 300, "ms"),
        (f"{MEASURED}::test_a_stop_is_confirmed_soon_whatever_is_under_way",),
    ),
    Measure(
        "100 MB tool output",
        "+64 MB, lag p99 100 ms",
        "+16 MB, 20 ms",
        _big,
        (f"{MEASURED}::test_a_huge_result_costs_little_memory_and_holds_up_nobody",),
    ),
    Measure("XSS payloads x sinks", "1,000 x 8, 0", "5,000 x 10 x 2 browsers", _xss, XSS),
    Measure("SSRF forms", "120, 0 through", "500", _cases(120, 500, *SSRF), SSRF),
    Measure("Host/Origin/CSRF cases", "60, 0 through", "all routes x 60", _cases(60, 10**9, *GUARD), GUARD),
    Measure(
        "obedient-model injections",
        "50, 0 effects",
        "500, 0",
        _counted("injections", 50, 500, "scenarios, 0 effects"),
        ("tests/proof/test_injection.py",),
    ),
    Measure(
        "hostile imports, none started", "200", "200", _counted("imports", 200, 200, "imports, 0 started"), IMPORTED
    ),
    Measure(
        "canary secrets leaked",
        "0/30",
        "0/100",
        _counted("canaries", 30, 100, "planted, 0 leaked"),
        ("tests/proof/test_canaries.py",),
    ),
    Measure("peer incidents as regression tests", "25", "all", _incidents),
    Measure(
        "promises synced before they are told",
        "4",
        "4",
        _counted("barriers", 4, 4, "of 4, traced"),
        (f"{FAULTS}/test_order.py",),
    ),
    Measure(
        "broken on purpose, caught",
        "7",
        "all",
        _counted("mutations", 7, len(MUTATIONS), f"of {len(MUTATIONS)}"),
        ("tests/proof/test_mutations.py",),
    ),
    Measure("branch coverage core and store", "95 %", "100 %", _coverage),
    Measure("axe-core serious/critical", "0", "0 + keyboard-only run", _axe, AXE),
    Measure("security linters (ruff's S rules)", "0", "0", _at_most("linters", "count", 0, 0, "findings")),
    Measure("known-vulnerable packages", "0 high", "0 high", _packages, elsewhere="no audit could be asked"),
)
