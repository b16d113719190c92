"""Servers as they run by default, from inside: what they reach, what is left of them, what stops them, and what is said
about it. What needs bubblewrap is skipped where it does not work, with the reason its trial gave."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.isolation_probes import (
    forks_under_a_bound,
    landlock_trial,
    nothing_trial,
    ordinary_user_fault,
    probe,
)
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S, until
from tests.proof.figures import note
from tests.servers.kit import family, ledger_config, program, run, text_of
from tests.servers.small_servers import GREEDY, POLITE, WRITER
from windlass.servers import Isolation, SandboxRules, Servers
from windlass.servers.isolation import IsolationTrial, trial
from windlass.servers.isolation.landlock import landlock_version

HERE = trial()
WITHOUT_BWRAP = pytest.mark.skipif(HERE.level != "bwrap", reason=f"the trial of bubblewrap: {HERE.why}")
WITHOUT_LANDLOCK = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
LEVELS = [
    pytest.param(trial, "default", id="bwrap", marks=WITHOUT_BWRAP),
    pytest.param(landlock_trial, "default", id="landlock", marks=WITHOUT_LANDLOCK),
    pytest.param(nothing_trial, "default", id="none"),
    pytest.param(trial, "off", id="off"),
]
# Landlock leaves the list of processes as it is; the card says so.
OPEN_AT = {"bwrap": set[str](), "landlock": {"command line of another server"}}
FEWEST = 40
ISOLATED = [pytest.param("bwrap", marks=WITHOUT_BWRAP), pytest.param("landlock", marks=WITHOUT_LANDLOCK)]


@pytest.mark.parametrize("ordinary", [False, True], ids=["as-you", "as-somebody"])
@pytest.mark.parametrize("level", ISOLATED)
def test_b1_a_server_reaches_no_token_secret_environment_agent_or_other_server(level: str, ordinary: bool) -> None:
    if ordinary and (fault := ordinary_user_fault()):
        pytest.skip(fault)
    found = probe(level, ordinary=ordinary)
    works = {name: outcome for name, outcome in found.items() if name.startswith("works: ")}
    assert set(works.values()) == {"reached"} and len(works) == 2, works
    reached = {name for name, outcome in found.items() if outcome == "reached"} - set(works)
    kinds = {name for name in found if not name.startswith("read ~/")} - set(works)
    note("probes", count=len(found) - len(works), kinds=len(kinds), through=len(reached - OPEN_AT[level]))
    assert reached == OPEN_AT[level]
    assert len(kinds) >= FEWEST


def test_b1_without_isolation_the_same_probes_reach_what_they_look_for() -> None:
    """But for variables and open files, which no server gets."""
    closed = {name for name, outcome in probe("off").items() if outcome != "reached"}
    assert closed == {"own environment", "files left open for the server"}


@pytest.mark.parametrize(("tried", "sandbox"), LEVELS)
async def test_a_server_hears_sigterm_before_it_is_killed(
    tmp_path: Path, tried: Callable[[], IsolationTrial], sandbox: str
) -> None:
    servers = Servers(isolation=Isolation(tmp_path / "data", tried=tried))
    folder = tmp_path / "out"
    folder.mkdir()
    await run(servers, program([sys.executable, "-S", "-E", "-c", POLITE, f"--out={folder}/heard"], sandbox=sandbox))
    await servers.stop("server")
    assert (folder / "heard").read_text() == "TERM"
    await servers.aclose()


@WITHOUT_BWRAP
async def test_b1_a_server_over_its_bound_of_memory_is_stopped_with_the_reason(servers: Servers) -> None:
    argv = [sys.executable, "-S", "-E", "-c", GREEDY]
    await servers.put(program(argv, sandbox_rules=SandboxRules(memory_mib=100)))
    servers.start("server")
    await until(lambda: "100 are allowed" in servers.status("server").reason, "the reason on the card")
    await servers.stop("server")


@WITHOUT_BWRAP
async def test_b1_a_server_over_its_bound_of_processes_is_stopped_with_the_reason(
    servers: Servers, ledger: Ledger
) -> None:
    await run(servers, ledger_config(ledger, sandbox_rules=SandboxRules(processes=8)))
    for _ in range(8):
        await servers.call("ledger", "spawn", "{}")
    await until(lambda: "8 are allowed" in servers.status("ledger").reason, "the reason on the card")


@WITHOUT_BWRAP
def test_b1_for_an_ordinary_user_the_kernel_counts_the_processes_of_one_server_alone() -> None:
    """Root is not counted, which is why servers are looked at as well."""
    ordinary = os.geteuid() == 0
    if ordinary and (fault := ordinary_user_fault()):
        pytest.skip(fault)
    assert "fork" in forks_under_a_bound(ordinary=ordinary)


@WITHOUT_BWRAP
async def test_b1_a_server_is_stopped_when_a_hidden_file_in_its_folder_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".env").write_text("KEY=1")
    servers = Servers(isolation=Isolation(tmp_path / "data", hidden=[folder / ".env"]))
    await run(servers, ledger_config(Ledger(folder)))
    (folder / ".env.new").write_text("KEY=2")
    (folder / ".env.new").rename(folder / ".env")
    await until(lambda: "was replaced" in servers.status("ledger").reason, "the reason on the card")
    await servers.aclose()


@WITHOUT_BWRAP
async def test_b1_what_was_refused_is_named_with_the_line_that_allows_it_and_the_line_works(
    servers: Servers, ledger: Ledger, tmp_path: Path
) -> None:
    """In the home, as most projects are: what lies in /tmp is a folder of the server's own."""
    with_project = Path.home() / f".windlass-test-{os.getpid()}"
    with_project.mkdir()
    try:
        config = program([sys.executable, "-S", "-E", "-c", WRITER, "once"])
        await run(servers, config)
        first = await servers.call("server", "write", json.dumps({"path": str(with_project / "made")}))
        assert "Read-only" in text_of(first) and not first.failed
        [refusal] = servers.isolation("server").refused
        assert (refusal.path, refusal.access) == (str(with_project), "write")

        await servers.put(program([*config.argv], sandbox_rules=SandboxRules(write=(refusal.path,))))
        assert (await servers.wait_ready("server", PATIENCE_S)).state == "running"
        second = await servers.call("server", "write", json.dumps({"path": str(with_project / "made")}))
        assert text_of(second) == "written" and (with_project / "made").read_text() == "x"
        assert servers.isolation("server").refused == ()
    finally:
        for path in with_project.iterdir():
            path.unlink()
        with_project.rmdir()


async def test_b1_a_docker_command_is_not_isolated_and_says_so(servers: Servers, tmp_path: Path) -> None:
    docker = tmp_path / "docker"
    docker.write_text(f"#!{sys.executable} -SE\n{WRITER}")
    docker.chmod(0o755)
    await run(servers, program([str(docker)]))
    found = servers.isolation("server")
    assert (found.wanted, found.level) == ("default", "none") and found.why.startswith("none (Docker)")


@pytest.mark.parametrize(
    ("tried", "level", "why"),
    [(landlock_trial, "landlock", "bubblewrap is not installed"), (nothing_trial, "none", "no Landlock")],
)
async def test_b1_where_bubblewrap_does_not_work_the_card_says_what_holds_instead(
    tmp_path: Path, ledger: Ledger, tried: Callable[[], IsolationTrial], level: str, why: str
) -> None:
    if level == "landlock" and not landlock_version():
        pytest.skip("this kernel has no Landlock")
    servers = Servers(isolation=Isolation(tmp_path / "data", tried=tried))
    await run(servers, ledger_config(ledger))
    found = servers.isolation("ledger")
    assert (found.wanted, found.level) == ("default", level) and why in found.why
    await servers.aclose()


async def test_a_crash_is_reported_with_the_signal_it_died_of(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, sandbox="off"))
    os.kill(family(servers, "ledger")[-1], signal.SIGSEGV)
    await until(lambda: f"code {-signal.SIGSEGV}" in servers.status("ledger").reason, "the reason")
