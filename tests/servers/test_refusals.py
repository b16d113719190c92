"""What isolation refuses a program is found in what the program says. The line that is named for it works when it is
followed."""

import json
import os
import shutil
import socket
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers.machine import SECRET, Machine, Trial, every_level, output
from windlass.core.errors import Unavailable
from windlass.servers import Refusal, SandboxRules, line_that_allows
from windlass.servers.isolation.refusals import refusals
from windlass.servers.values import ServerConfig

PYTHON = os.path.realpath(sys.executable)
CONNECT = """
import socket, sys
try:
    client = socket.socket(socket.AF_UNIX); client.connect({path!r}); print("worked")
except OSError as error:
    print(f"Cannot connect: {{error}} {path}", file=sys.stderr); import traceback; traceback.print_exc()
"""
DATABASE = """
import sqlite3
database = sqlite3.connect({path!r}); database.execute("create table if not exists a (b)"); database.commit()
print("worked")
"""
LOCK = "import multiprocessing; multiprocessing.Lock(); print('worked')"
TERMINAL = """
import os
try:
    os.openpty(); print("worked")
except OSError as error:
    print(f"openpty: {error}")
"""


IN_TMP = f"/tmp/windlass-test-{os.getpid()}"


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not in /tmp, which some of the lines open."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="windlass-test-") as path:
        yield Path(path)


@pytest.fixture
def machine(folder: Path, tried: Trial) -> Machine:
    found = Machine(folder, tried)
    for path, text in {".aws/credentials": SECRET, "repository/file": "x", "docs/file": "x"}.items():
        (found.home / path).parent.mkdir(exist_ok=True)
        (found.home / path).write_text(text)
    return found


def said(machine: Machine, argv: list[str], rules: SandboxRules) -> tuple[str, list[Refusal]]:
    config = ServerConfig("srv-1", "files", command=argv[0], args=tuple(argv[1:]), confirmed=True, sandbox_rules=rules)
    launch = machine.isolation.launch(config, {})
    text = output(launch)
    return text, refusals(text, launch.limits)


def rules_of(line: str) -> SandboxRules:
    """As the settings read them."""
    inside = tomllib.loads(line)["servers"]["files"]["inside"]
    return SandboxRules(read=tuple(inside.get("read", ())), write=tuple(inside.get("write", ())))


def expect_line_works(machine: Machine, argv: list[str], expected: str, access: str, *, at_first: bool = False) -> None:
    text, found = said(machine, argv, SandboxRules())
    assert ("worked" in text) == at_first, text
    [refusal] = found[:1]
    assert (refusal.path, refusal.access) == (expected, access), (text, found)
    text, found = said(machine, argv, rules_of(line_that_allows("files", SandboxRules(), refusal)))
    assert "worked" in text and found == [], (text, found)


def shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", f"{script} && echo worked"]


def python(code: str) -> list[str]:
    return [PYTHON, "-E", "-c", code]


@every_level
def test_b1_the_line_for_a_folder_that_only_a_call_names(machine: Machine) -> None:
    expect_line_works(machine, shell(f"echo x > {machine.home}/repository/made"), f"{machine.home}/repository", "write")


@every_level
def test_b1_the_line_for_a_repository_that_only_a_call_names(machine: Machine) -> None:
    folder = machine.home / "repository"
    os.system(f"git init -q {folder}")
    expect_line_works(machine, shell(f"git -c safe.directory='*' -C {folder} add file"), str(folder), "write")


@every_level
def test_b1_the_line_for_a_database_directly_in_the_home(machine: Machine) -> None:
    code = DATABASE.format(path=f"{machine.home}/a.db")
    argv = [*python(code), f"{machine.home}/a.db"]
    if machine.level == "landlock":  # a folder that holds something hidden cannot be opened as a whole
        assert said(machine, argv, SandboxRules())[1] == []
    else:
        expect_line_works(machine, argv, str(machine.home), "write")


@every_level
def test_b1_the_line_for_credentials_by_their_path(machine: Machine) -> None:
    expect_line_works(machine, shell(f"cat {machine.home}/.aws/credentials"), f"{machine.home}/.aws", "read")


@every_level
@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("git@github.com: Permission denied (publickey).", ".ssh"),
        ("Host key verification failed.", ".ssh"),
        ("botocore.exceptions.NoCredentialsError: Unable to locate credentials", ".aws"),
        ("To get started with GitHub CLI, please run: gh auth login", ".config/gh"),
    ],
)
def test_b1_the_line_for_credentials_that_an_error_does_not_name(machine: Machine, error: str, name: str) -> None:
    script = f"if ls {machine.home}/{name} 2>&-; then true; else echo {json.dumps(error)}; false; fi"
    expect_line_works(machine, shell(script), f"{machine.home}/{name}", "read")


@every_level
def test_b1_the_line_for_an_agent_s_socket(machine: Machine, listening: "Listening") -> None:
    listening.at(path := f"{machine.home}/.agent.sock")
    expected = "/run" if machine.level == "landlock" else path
    expect_line_works(machine, python(CONNECT.format(path=path)), expected, "read")


@every_level
def test_b1_the_line_for_docker_s_socket(machine: Machine, listening: "Listening") -> None:
    (machine.home / ".docker" / "run").mkdir(parents=True)
    listening.at(path := f"{machine.home}/.docker/run/docker.sock")
    if machine.level == "landlock":
        expect_line_works(machine, python(CONNECT.format(path=path)), "/run", "read")
        return
    error = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
    script = f"if ls {path}; then true; else echo {json.dumps(error)}; false; fi"
    expect_line_works(machine, shell(script), f"{machine.home}/.docker", "read")


@every_level
@pytest.mark.parametrize(
    ("argv", "path"),
    [
        (python(LOCK), "/dev/shm"),
        (python(TERMINAL), "/dev/pts"),
        (shell(f"mkdir -p {IN_TMP}; echo x > {IN_TMP}/made"), IN_TMP),
    ],
    ids=["lock", "terminal", "tmp"],
)
def test_b1_the_line_for_what_landlock_closes_and_bubblewrap_makes_private(
    machine: Machine, argv: list[str], path: str
) -> None:
    if machine.level != "landlock":
        assert "worked" in said(machine, argv, SandboxRules())[0]
        return
    Path(IN_TMP).mkdir()  # /tmp itself may hold the socket of an agent, and cannot be opened then
    try:
        expect_line_works(machine, argv, path, "write")
    finally:
        shutil.rmtree(IN_TMP)


@every_level
def test_b1_a_system_folder_is_never_named_for_writing(machine: Machine) -> None:
    text, found = said(machine, shell("echo x > /usr/bin/made; echo x > /etc/made"), SandboxRules())
    assert found == [], text


@every_level
def test_b1_a_script_that_only_windlass_would_find_is_named_with_its_full_path(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.home / "server.py").write_text("print('worked')")
    monkeypatch.chdir(machine.home)
    config = ServerConfig("srv-1", "files", command=PYTHON, args=("server.py",), confirmed=True)
    with pytest.raises(Unavailable, match=r"server\.py is not a full path") as refused:
        machine.isolation.launch(config, {})
    assert f"Write {machine.home}/server.py" in refused.value.hint
    for advised in (replace(config, args=(f"{machine.home}/server.py",)), replace(config, cwd=str(machine.home))):
        assert "worked" in output(machine.isolation.launch(advised, {}))


@every_level
def test_b1_files_of_a_traceback_are_not_named(machine: Machine) -> None:
    text, found = said(machine, [PYTHON, "-E", "-c", TRACED.format(home=machine.home)], SandboxRules())
    assert "repository/code.py" in text and [one.path for one in found] == [f"{machine.home}/docs"], (text, found)


TRACED = """
import sys
print('  File "{home}/repository/code.py", line 3, in write', file=sys.stderr)
open("{home}/docs/made", "w")
"""


class Listening:
    def __init__(self) -> None:
        self.open: list[socket.socket] = []

    def at(self, path: str) -> None:
        listener = socket.socket(socket.AF_UNIX)
        self.open.append(listener)
        listener.bind(path)
        listener.listen()


@pytest.fixture
def listening() -> Iterator[Listening]:
    found = Listening()
    yield found
    for listener in found.open:
        listener.close()
