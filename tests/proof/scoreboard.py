"""The scoreboard: each measure with its floor, its aim and our figure. What was not measured is said, never passed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.proof.figures import Figures
from tests.proof.mutations import MUTATIONS
from tests.proof.readings import (
    KEYBOARD,
    SCREENS,
    Figure,
    at_most,
    axe,
    big,
    cases,
    counted,
    coverage,
    fuzz,
    incidents,
    injected,
    kills,
    none_through,
    packages,
    questions,
    races,
    rows,
    soak,
    twice,
    unmeasured,
    xss,
)


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
KILLS = (f"{FAULTS}/test_kills.py", "tests/proof/test_rows.py")  # and that the checker can find a fault
CUTS = (
    f"{FAULTS}/test_model.py",
    "tests/providers/test_corpus.py::test_a_stream_cut_at_any_byte_never_passes_for_whole",
)
FUZZ = (f"{FAULTS}/test_fuzz.py", f"{FAULTS}/test_guided.py")
BAD_INPUTS = (f"{FAULTS}/test_requests.py", "tests/web/test_fuzz.py")
WATCHERS = (f"{MEASURED}::test_idle_watchers_cost_little_and_too_many_are_survived",)
XSS = ("tests/browser/test_xss.py",)
NEWCOMER = ("tests/browser/test_newcomer.py",)
AXE = (SCREENS, KEYBOARD)
ISOLATION = ("tests/servers/test_isolation.py", "tests/servers/test_isolation_attacks.py")
DETACHED = ("tests/servers/test_detached.py",)
SELF_APPROVAL = ("tests/proof/test_self_approval.py",)
RACES = (f"{FAULTS}/test_races.py", f"{FAULTS}/test_schedules.py")
BROWSING = "tests/e2e/test_browser_session.py"
SEEDS = ("tests/proof/test_side_by_side.py",)
INJECTED = ("tests/proof/test_injection.py", *SEEDS)
SPELLINGS = tuple(
    f"tests/toolbox/test_matching.py::test_c4_{name}"
    for name in (
        "no_spelling_gets_around_a_rule_that_denies_or_asks",
        "a_pattern_in_text_is_found_whatever_its_letters",
        "arguments_that_cannot_be_read_are_denied_and_never_allowed",
        "a_long_or_deep_value_is_denied_rather_than_passed",
    )
)
IMPORTED = ("tests/proof/test_incidents.py::test_cve_2026_40933_langflow_and_localai_9394_no_import_starts_anything",)

FLOOD = ("tests/web/test_protocol.py::test_e1_memory_is_back_after_a_flood",)
BACKUP = ("tests/cli/test_backup.py::test_f1_keys_written_in_the_settings_are_left_out_and_named",)

MEASURES = (
    Measure("kill points x modes, nothing lost", "64/64", "+ 1,000 random, 0", kills, KILLS),
    Measure("duplicate non-idempotent effects", "0", "0 in 10,000 kill runs", twice, KILLS),
    Measure("fault matrix rows automated", "40", "all 45", rows),
    Measure("SSE cut positions", "10,000", "100,000, 0 wrong", counted("cuts", 1e4, 1e5, "cuts, 0 shown whole"), CUTS),
    Measure(
        "reconnects with exact transcript",
        "1,000",
        "100,000",
        counted("reconnects", 1000, 1e5, "reconnects"),
        (f"{FAULTS}/test_reconnects.py", f"{FAULTS}/test_kills.py"),
    ),
    Measure("stop, approve and finish interleaved", "60", "all", races, RACES),
    Measure("Postgres restarts survived", "50", "500", unmeasured, elsewhere="there is no Postgres store yet"),
    Measure("fuzz, each of four parsers", "10^6", "10^8", fuzz, FUZZ),
    Measure(
        "API bad inputs",
        "20,000, 0 x 5xx",
        "1,000,000",
        counted("bad inputs", 2e4, 1e6, "requests, 0 x 5xx"),
        BAD_INPUTS,
    ),
    Measure("idle SSE, one process", "10,000", "20,000+", counted("idle watchers", 1e4, 2e4, "watchers"), WATCHERS),
    Measure("memory of an idle watcher", "30 KB", "25 KB", at_most("idle watchers", "kb", 30, 25, "KB each"), WATCHERS),
    Measure(
        "200 streaming runs, p99 added latency",
        "50 ms",
        "1,000 runs",
        at_most("streams", "ms", 50, 0, "ms"),
        (f"{MEASURED}::test_many_streams_at_once_are_passed_on_in_time",),
    ),
    Measure(
        "soak",
        "10 min, drift printed",
        "8 h, memory < 2 %",
        soak,
        (f"{MEASURED}::test_a_long_run_leaves_nothing_behind",),
    ),
    Measure(
        "restart to ready, 100k conversations",
        "3 s",
        "1 s",
        at_most("restart", "s", 3, 1, "s"),
        (f"{MEASURED}::test_a_start_with_many_conversations_is_quick",),
    ),
    Measure(
        "stop confirmed, p99",
        "2,000 ms",
        "300 ms",
        at_most("stop", "ms", 2000, 300, "ms"),
        (f"{MEASURED}::test_a_stop_is_confirmed_soon_whatever_is_under_way",),
    ),
    Measure(
        "100 MB tool output",
        "+64 MB, lag p99 100 ms",
        "+16 MB, 20 ms",
        big,
        (f"{MEASURED}::test_a_huge_result_costs_little_memory_and_holds_up_nobody",),
    ),
    Measure(
        "worst delay of /health",
        "250 ms",
        "100 ms",
        at_most("health delay", "ms", 250, 100, "ms"),
        ("tests/proof/test_loop_delay.py",),
    ),
    Measure("XSS payloads x sinks", "1,000 x 8, 0", "5,000 x 10 x 2 browsers", xss, XSS),
    Measure("SSRF forms", "120, 0 through", "500", cases(120, 500, *SSRF), SSRF),
    Measure("Host/Origin/CSRF cases", "60, 0 through", "all routes x 60", cases(60, 10**9, *GUARD), GUARD),
    Measure(
        "cookies replayed from another port",
        "0 through",
        "0 on every route",
        none_through("cookies", "through", 9, 90, "requests"),
        NEWCOMER,
    ),
    Measure(
        "memory taken before a token is shown",
        "+10 %",
        "+5 %",
        at_most("unread flood", "percent", 10, 5, "% after 300 MB of unread requests"),
        FLOOD,
    ),
    Measure("secrets in backups", "20, 0 packed", "20", counted("backup", 20, 20, "planted, 0 packed"), BACKUP),
    Measure("injected effects", "100 attacks, 0 through", "500, 0", injected, INJECTED),
    Measure("questions in everyday use", "0; 2 with a browser", "0; 1", questions, (*SEEDS, BROWSING)),
    Measure("deny spellings", "30, 0 through", "100", cases(30, 100, *SPELLINGS), SPELLINGS),
    Measure(
        "isolation probes, root and user",
        "40, 0 through",
        "400, 0",
        none_through("probes", "through", 40, 400, "probes"),
        ISOLATION,
    ),
    Measure(
        "isolated start, added time",
        "100 ms",
        "50 ms",
        at_most("isolated start", "ms", 100, 50, "ms"),
        ("tests/proof/test_isolation_cost.py",),
    ),
    Measure(
        "processes left by setsid",
        "0",
        "0 at 5 levels x 3 ends",
        none_through("detached", "left", 15, 60, "processes"),
        DETACHED,
    ),
    Measure(
        "self-approval by a server",
        "0 through",
        "0 of 40 ways",
        none_through("self-approval", "through", 20, 40, "ways"),
        SELF_APPROVAL,
    ),
    Measure(
        "hostile imports, none started", "200", "200", counted("imports", 200, 200, "imports, 0 started"), IMPORTED
    ),
    Measure(
        "canary secrets leaked",
        "0/30",
        "0/100",
        counted("canaries", 30, 100, "planted, 0 leaked"),
        ("tests/proof/test_canaries.py",),
    ),
    Measure("peer incidents as regression tests", "25", "all", incidents),
    Measure(
        "promises synced before they are told",
        "4",
        "4",
        counted("barriers", 4, 4, "of 4, traced"),
        (f"{FAULTS}/test_order.py",),
    ),
    Measure(
        "broken on purpose, caught",
        "7",
        "all",
        counted("mutations", 7, len(MUTATIONS), f"of {len(MUTATIONS)}"),
        ("tests/proof/test_mutations.py",),
    ),
    Measure("branch coverage core and store", "95 %", "100 %", coverage),
    Measure("axe-core serious/critical", "0", "0 + keyboard-only run", axe, AXE),
    Measure("security linters (ruff's S rules)", "0", "0", at_most("linters", "count", 0, 0, "findings")),
    Measure("known-vulnerable packages", "0 high", "0 high", packages, elsewhere="no audit could be asked"),
)
