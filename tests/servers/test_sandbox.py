"""The sandbox from inside: what a server in it can and cannot reach. Needs bubblewrap, as the feature does."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import until
from tests.servers.kit import alive, ledger_config, run, text_of
from windlass.core.errors import Unavailable
from windlass.servers import SandboxRules, Servers
from windlass.servers.isolation.strict import sandboxed

needs_bwrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="bubblewrap, which the sandbox is made of, is not installed"
)
ROOT = Path(__file__).parents[2]
PYTHON = (str(ROOT), str(Path(sys.executable).resolve().parents[1]), sys.base_prefix)


def rules(ledger: Ledger) -> SandboxRules:
    return SandboxRules(read=tuple(dict.fromkeys(PYTHON)), write=(str(ledger.folder),))


@needs_bwrap
async def test_a_sandboxed_server_works_and_a_daemon_of_its_dies_with_it(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, sandbox="strict", sandbox_rules=rules(ledger)))
    assert text_of(await servers.call("ledger", "record", '{"effect_id": "a"}')) == "recorded a"
    await servers.call("ledger", "spawn", '{"setsid": true}')
    family = set(descendants(servers.status("ledger").pid or 0))
    assert len(family) >= 2
    await servers.stop("ledger")
    await until(lambda: not any(alive(pid) for pid in family), "the end of the namespace")


@needs_bwrap
async def test_inside_there_is_no_home_of_ours_and_none_of_our_secrets(servers: Servers, ledger: Ledger) -> None:
    await run(servers, ledger_config(ledger, sandbox="strict", sandbox_rules=rules(ledger), env={"TOKEN": "t"}))
    seen = json.loads(text_of(await servers.call("ledger", "env_dump", "{}")))
    assert seen["HOME"] == "/home/server" and seen["TOKEN"] == "t"


@needs_bwrap
def test_a_home_that_is_kept_is_there_at_the_next_start(tmp_path: Path) -> None:
    kept = SandboxRules(home=str(tmp_path / "kept"))
    for where, left in ((SandboxRules(), 0), (kept, 1)):
        code = "import os; n = len(os.listdir()); open('cache', 'w'); raise SystemExit(n)"
        argv = sandboxed(["/usr/bin/env", "python3", "-S", "-E", "-c", code], where)
        ended = [subprocess.run(argv, timeout=100, env={"PATH": "/usr/bin:/bin"}).returncode for _ in range(2)]
        assert ended == [0, left]


@needs_bwrap
@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/shadow').read()",
        "open('/usr/evil', 'w')",
        "open('/evil', 'w')",
        "open('/etc/evil', 'w')",
        "os.listdir('/root') or 1/0",
        "os.listdir(os.path.expanduser('~/.ssh'))",
        "os.mkdir('/proc/evil')",
        "os.chroot('/tmp')",
        "os.setuid(1234) or 1/0 if os.getuid() != 1234 else None",
        "socket.create_connection(('127.0.0.1', PORT), 1)",
        "socket.create_connection(('8.8.8.8', 53), 1)",
        "os.kill(HOST, 0)",
        "os.truncate(os.open('/tmp/large', os.O_CREAT | os.O_WRONLY), 5 << 30)",
        "subprocess.run(['mount', '-t', 'tmpfs', 'x', '/mnt'], check=True, capture_output=True)",
    ],
)
def test_an_escape_fails(attempt: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        filled = attempt.replace("PORT", str(listener.getsockname()[1])).replace("HOST", str(os.getpid()))
        code = f"import os, socket, subprocess\ntry:\n    {filled}\nexcept BaseException:\n    raise SystemExit(7)"
        argv = sandboxed(["/usr/bin/env", "python3", "-S", "-E", "-c", code], SandboxRules())
        done = subprocess.run(argv, capture_output=True, timeout=100, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 7, done.stderr.decode()


def test_a_missing_bubblewrap_is_said_not_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Unavailable, match="not installed"):
        sandboxed(["cat"], SandboxRules())


def descendants(pid: int) -> list[int]:
    return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
