"""What a server may do to be less isolated at its next start: plant links, replace what covers, rename folders, and use
openings that were made for something else. Each under bubblewrap and under Landlock."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.machine import HERE, LEVELS, SECRET, Machine, Trial, every_level, output
from windlass.core.errors import Unavailable
from windlass.servers import Isolation, SandboxRules
from windlass.servers.isolation.bubblewrap import MOST_ENTRIES
from windlass.servers.values import ServerConfig


@pytest.fixture
def machine(tmp_path: Path, tried: Trial) -> Machine:
    return Machine(tmp_path, tried)


@every_level
def test_b1_what_covers_a_hidden_file_cannot_be_replaced_by_the_server(machine: Machine) -> None:
    private = machine.data / "servers" / "srv-1"
    machine.run(f"for f in .empty npmrc .rules.json; do rm -f {private}/$f; ln -s {machine.key} {private}/$f; done")
    assert SECRET not in machine.run(f"cat {machine.project}/.env {private}/npmrc", machine.project)
    assert machine.key.read_text() == SECRET and (machine.data / "token").read_text() == SECRET


@every_level
def test_b1_a_folder_of_its_own_replaced_by_a_link_makes_windlass_write_nowhere_else(machine: Machine) -> None:
    private, victim = machine.data / "servers" / "srv-1", machine.home / "victim"
    victim.mkdir()
    (machine.home / ".config" / "tool").mkdir()
    machine.run(f"rm -rf {private}/config {private}/work; ln -s {victim} {private}/config; ln -s / {private}/work")
    machine.run("true")
    assert os.listdir(victim) == []


@every_level
@pytest.mark.parametrize(
    ("named", "target"),
    [(["docs", "docs/a.db"], "a.db"), (["docs", "docs/sub/"], ""), (["docs/a.db"], "a.db"), (["docs/a.db"], "")],
)
def test_b1_a_link_that_a_server_planted_opens_nothing_at_its_next_start(
    machine: Machine, named: list[str], target: str
) -> None:
    (machine.home / "docs").mkdir()
    (victim := machine.home / "bin").mkdir()
    arguments = [f"{machine.home}/{name}" for name in named]
    link = Path(arguments[-1])
    machine.run(f"ln -s {victim / target} {link}", *arguments)
    assert link.is_symlink()
    machine.run(f"echo x > {victim}/planted", *arguments)
    assert os.listdir(victim) == []


@every_level
def test_b1_a_link_of_the_person_s_own_opens_what_it_leads_to(machine: Machine) -> None:
    (machine.home / "disk").mkdir()
    (machine.home / "docs").symlink_to(machine.home / "disk")
    machine.run(f"echo x > {machine.home}/docs/made", machine.home / "docs")
    assert (machine.home / "disk" / "made").exists()


@every_level
def test_b1_a_planted_link_opens_nothing_that_a_line_names(machine: Machine) -> None:
    (docs := machine.home / "docs").mkdir()
    machine.run(f"ln -s {machine.home}/.ssh {docs}/keys", docs)
    assert (docs / "keys").is_symlink()
    rules = SandboxRules(read=(str(docs / "keys"),))
    assert SECRET not in machine.run(f"cat {machine.key} {docs}/keys/id", docs, rules=rules)


@every_level
@pytest.mark.parametrize("access", ["read", "write"])
@pytest.mark.parametrize("opened", [".", ".config", ".."])
def test_b1_a_line_for_a_parent_does_not_open_what_is_hidden_in_it(machine: Machine, access: str, opened: str) -> None:
    line = (str((machine.home / opened).resolve()),)
    rules = SandboxRules(read=line) if access == "read" else SandboxRules(write=line)
    hidden = f"{machine.key} {machine.home}/.config/gh/hosts {machine.data}/token {machine.project}/.env"
    shown = machine.run(f"cat {hidden}; echo ran", rules=rules)
    assert SECRET not in shown and "ran" in shown


@every_level
def test_b1_a_line_for_a_hidden_folder_opens_that_one(machine: Machine) -> None:
    assert SECRET in machine.run(f"cat {machine.key}", rules=SandboxRules(read=(str(machine.key.parent),)))


@every_level
def test_b1_a_path_inside_a_hidden_one_named_in_the_command_does_not_open_it(machine: Machine) -> None:
    new = machine.home / ".ssh" / "new"
    shown = machine.run(f"cat {machine.key}; echo x > {new}", machine.key, f"--out={new}")
    assert SECRET not in shown and not new.exists()


@every_level
def test_b1_the_home_and_a_folder_around_windlass_data_are_not_writable(machine: Machine) -> None:
    machine.run(f"echo x > {machine.home}/made; echo x > {machine.data}/made", machine.home, cwd=str(machine.home))
    assert not (machine.home / "made").exists() and not (machine.data / "made").exists()


@every_level
@pytest.mark.parametrize("depth", ["", "tools"])
def test_b1_windlass_own_code_in_a_folder_the_server_may_write_to_stays_as_it_is(
    machine: Machine, depth: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = machine.project / depth / ".venv"
    (code / "bin").mkdir(parents=True)
    (code / "bin" / "python").write_text("ours")
    monkeypatch.setattr(sys, "prefix", str(code))
    renamed = f"mv {machine.project}/tools {machine.project}/x" if depth else f"mv {code} {code}x"
    machine.run(
        f"echo evil > {code}/bin/python; {renamed}; mkdir -p {code}/bin; echo evil > {code}/bin/python;"
        f"echo x > {machine.project}/made",
        machine.project,
    )
    assert (code / "bin" / "python").read_text() == "ours"


@every_level
@pytest.mark.parametrize("sandbox", ["default", "strict"])
def test_b1_no_kernel_setting_can_be_written(machine: Machine, sandbox: str) -> None:
    script = "( : >> /proc/sys/kernel/core_pattern ) && echo opened"
    if (sandbox, machine.level) == ("strict", "landlock"):
        with pytest.raises(Unavailable, match="must run in a strict sandbox"):
            machine.run(script, sandbox=sandbox)
    else:
        assert "opened" not in machine.run(script, sandbox=sandbox)


@every_level
def test_b1_a_settings_file_outside_the_home_stays_hidden_when_an_editor_replaces_it(
    tmp_path: Path, tried: Trial, elsewhere: Path
) -> None:
    settings = elsewhere / "windlass.toml"
    settings.write_text(SECRET)
    (elsewhere / "notes").write_text("notes")
    isolation = Isolation(tmp_path / "data", hidden=[settings], home=tmp_path, tried=tried)
    script = f"echo ready; read line; cat {elsewhere}/notes {settings}"
    config = ServerConfig("srv-1", "x", command="/bin/sh", args=("-c", script), confirmed=True)
    launch = isolation.launch(config, {})
    with subprocess.Popen(
        launch.argv,
        env=dict(launch.env),
        cwd=launch.cwd or None,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdin and process.stdout and process.stdout.readline() == "ready\n"
        (elsewhere / "new").write_text(SECRET)
        (elsewhere / "new").rename(settings)
        shown, _ = process.communicate("\n", timeout=100)
    assert "notes" in shown and SECRET not in shown


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """Outside of the machine's home and of /tmp, which a server has for itself."""
    with tempfile.TemporaryDirectory(dir=Path.home(), prefix=".windlass-test-") as folder:
        yield Path(folder)


@pytest.mark.skipif(HERE.level != "bwrap", reason=HERE.why)
@pytest.mark.parametrize("tried", LEVELS[:1])
def test_b1_a_strict_server_sees_nothing_hidden_in_a_folder_that_is_opened(machine: Machine) -> None:
    hidden = f"{machine.key} {machine.home}/.config/gh/hosts {machine.data}/token {machine.project}/.env"
    (machine.home / "notes").write_text("notes")
    for rules in (SandboxRules(read=(str(machine.home),)), SandboxRules(write=(str(machine.folder),))):
        shown = machine.run(f"cat {machine.home}/notes {hidden}", rules=rules, sandbox="strict")
        assert "notes" in shown and SECRET not in shown


@pytest.mark.parametrize("tried", LEVELS[:1])
def test_b1_a_home_with_very_many_entries_is_covered_instead_and_that_is_said(machine: Machine) -> None:
    for number in range(MOST_ENTRIES + 1):
        (machine.home / f"entry-{number}").touch()
    hidden = f"{machine.key} {machine.home}/.config/gh/hosts {machine.data}/token {machine.project}/.env"
    launch = machine.launch(f"ls {machine.home} | wc -l; cat {hidden}; echo x > {machine.home}/made; echo ran")
    shown = output(launch)
    assert SECRET not in shown and "ran" in shown and int(shown.split()[0]) > MOST_ENTRIES
    assert not (machine.home / "made").exists()
    assert "too many entries" in launch.why


@pytest.mark.parametrize("tried", LEVELS[1:])
@pytest.mark.parametrize(
    "code",
    [
        "syscall(425, 8, (c_uint8 * 120)())",  # io_uring, which makes sockets past a filter
        "syscall(0x40000000 + 41, 1, 1, 0)",  # the same call by the numbers of another architecture
        "socket(1, 1, 0)",
        "socketpair(1, 2, 0, (c_int * 2)())",
    ],
)
def test_b1_under_landlock_no_call_makes_a_socket_in_the_file_system(machine: Machine, code: str) -> None:
    script = f"from ctypes import *; print('made', CDLL(None).{code})"
    shown = machine.run(f'{sys.executable} -S -E -c "{script}"')
    assert shown == "made -1\n"
