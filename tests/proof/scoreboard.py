"""The scoreboard: each measure with its floor, its aim and our figure. What was not measured is said, never passed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.proof.figures import Figures
from tests.proof.incidents import INCIDENTS
from tests.proof.rows import ROWS


@dataclass(frozen=True, slots=True)
class Figure:
    """`met` is None when nothing was measured; `aimed` when the aim is met too."""

    text: str
    met: bool | None
    aimed: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    name: str
    floor: str
    aim: str
    figure: Callable[[Figures], Figure]


def figures_of(found: Figures) -> list[tuple[Measure, Figure]]:
    return [(measure, measure.figure(found)) for measure in MEASURES]


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


def _elsewhere(where: str) -> Callable[[Figures], Figure]:
    return lambda found: Figure(where, None)


def _kills(found: Figures) -> Figure:
    test = "tests/faults/test_kills.py::test_a_turn_survives_a_kill_at"
    ended = found.ended(test)
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
    text = f"{len(held)} of {len(ROWS)}" + (f" (not: {' '.join(missing)})" if missing else "")
    return Figure(text, len(held) >= 40, len(held) >= 45) if found.outcomes else Figure("-", None)


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
    held = [name for name, tests in INCIDENTS.items() if tests and found.held(*tests)]
    return Figure(f"{len(held)} of {len(INCIDENTS)}", len(held) >= 25, len(held) == len(INCIDENTS))


def _coverage(found: Figures) -> Figure:
    percent = found.most("coverage", "percent")
    return Figure("-", None) if percent is None else Figure(f"{percent:.1f} %", percent >= 95, percent >= 100)


def _axe(found: Figures) -> Figure:
    """The tests of the screens fail on any serious or critical finding."""
    ended = found.ended("tests/browser/test_screens.py")
    if not ended or set(ended) == {"skipped"}:
        return Figure("-", None)
    bad = len(ended) - ended.count("passed")
    return Figure(f"{bad} of {len(ended)} walks with findings", not bad)


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

MEASURES = (
    Measure("kill points x modes, nothing lost", "64/64", "+ 1,000 random", _kills),
    Measure("effects done twice", "0", "0 in 10,000 kills", _twice),
    Measure("fault matrix rows automated", "40", "45", _rows),
    Measure("SSE cut positions", "10,000", "100,000", _counted("cuts", 1e4, 1e5, "cuts, 0 shown as whole")),
    Measure("reconnects, exact transcript", "1,000", "100,000", _counted("reconnects", 1000, 1e5, "reconnects")),
    Measure("Postgres restarts survived", "50", "500", _elsewhere("there is no Postgres store yet")),
    Measure("fuzz, each parser", "10^6", "10^8", _fuzz),
    Measure("API bad inputs", "20,000, 0 x 5xx", "1,000,000", _counted("bad inputs", 2e4, 1e6, "requests, 0 x 5xx")),
    Measure("idle SSE, one process", "10,000, 30 KB", "20,000", _counted("idle watchers", 1e4, 2e4, "watchers")),
    Measure("memory of an idle watcher", "30 KB", "25 KB", _at_most("idle watchers", "kb", 30, 25, "KB each")),
    Measure("200 streaming runs, added p99", "50 ms", "1,000 runs", _at_most("streams", "ms", 50, 0, "ms")),
    Measure("soak", "10 min, drift printed", "8 h", _soak),
    Measure("restart, 100k conversations", "3 s", "1 s", _at_most("restart", "s", 3, 1, "s")),
    Measure("stop confirmed, p99", "2,000 ms", "300 ms", _at_most("stop", "ms", 2000, 300, "ms")),
    Measure("100 MB tool output", "+64 MB, 100 ms", "+16 MB, 20 ms", _big),
    Measure("XSS payloads x sinks", "1,000 x 8", "5,000 x 10 x 2", _elsewhere("browser tests, not run from here")),
    Measure("SSRF forms", "120, 0 through", "500", _cases(120, 500, *SSRF)),
    Measure("Host/Origin/CSRF cases", "60, 0 through", "all routes x 60", _cases(60, 10**9, *GUARD)),
    Measure(
        "obedient-model injections", "50, 0 effects", "500, 0", _counted("injections", 50, 500, "scenarios, 0 effects")
    ),
    Measure("hostile imports, none started", "200", "200", _counted("imports", 200, 200, "imports, 0 started")),
    Measure("canary secrets leaked", "0/30", "0/100", _counted("canaries", 30, 100, "planted, 0 leaked")),
    Measure("incidents of peers as tests", "25", "all", _incidents),
    Measure("promises synced before told", "4", "4", _counted("barriers", 4, 4, "of 4, traced")),
    Measure("broken on purpose, caught", "7", "all", _counted("mutations", 7, 10, "caught")),
    Measure("branch coverage core and store", "95 %", "100 %", _coverage),
    Measure("axe-core serious/critical", "0", "0 + keyboard", _axe),
    Measure("security linters, high", "0", "0", _at_most("linters", "count", 0, 0, "of ruff's S rules; no audits")),
)
