"""A home full of credentials, a Windlass folder with a token, another server, agents that listen, and a program that
tries to reach them under a level of isolation. A process of its own stands for Windlass, since what its environment
holds cannot be taken back: `python -m tests.kit.isolation_probes FOLDER LEVEL`."""

import ctypes
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from windlass.servers.isolation import Isolation, IsolationTrial, Launch, trial
from windlass.servers.isolation.hidden_paths import IN_HOME
from windlass.servers.isolation.landlock import landlock_version
from windlass.servers.values import SandboxLevel, SandboxRules, ServerConfig

CANARY = "canary-7f3a91c2d4"
ROOT = Path(__file__).parents[2]
INSIDE = Path(__file__).with_name("probe_inside.py")
FILES = (".npmrc", ".netrc", ".pypirc", ".git-credentials", ".claude.json", ".vault-token", ".pgpass", ".my.cnf")
SOMEBODY = 54321  # an ordinary user, who need not be known to the system
_ADD_KEY = {"x86_64": 248, "aarch64": 217}.get(platform.machine(), 248)
_libc = ctypes.CDLL(None, use_errno=True)


def landlock_trial() -> IsolationTrial:
    """As on a machine without bubblewrap."""
    return IsolationTrial("landlock", "bubblewrap is not installed", scope=landlock_version() >= 6, filters=True)


def nothing_trial() -> IsolationTrial:
    return IsolationTrial("none", "bubblewrap is not installed, and this kernel has no Landlock")


def probe(level: str, *, ordinary: bool = False) -> dict[str, str]:
    """What a server at this level reaches: probe to `reached` or `closed: why`. `ordinary` is for root: as somebody
    else."""
    with _folder(ordinary) as folder:
        argv = [*_python(ordinary), "-m", "tests.kit.isolation_probes", str(folder), level]
        packages = next(Path(sys.prefix).glob("lib/python*/site-packages"))
        paths = os.pathsep.join(str(path) for path in (ROOT, ROOT / "src", packages))
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": paths, "HOME": str(folder), "PROBED_TOKEN": CANARY}
        done = subprocess.run(argv, env=env, cwd=folder, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def forks_under_a_bound(*, ordinary: bool = False) -> str:
    """What a server says that may have 16 processes and starts 40."""
    return json.dumps(probe("forks", ordinary=ordinary))


def ordinary_user_fault() -> str:
    """Why the probes cannot be run as somebody else; "" where they can."""
    if os.geteuid() != 0:
        return "the tests run as an ordinary user already"
    return "" if _python(ordinary=True) else "no Python of this version that an ordinary user may run"


@cache
def _python(ordinary: bool) -> tuple[str, ...]:
    own = os.path.realpath(sys.executable)
    if not ordinary:
        return (own,)
    user = ("setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups")
    # Twice: the first program is still run with the rights of root.
    again = (
        f"import os, sys; sys.version_info[:2] == {sys.version_info[:2]} and os.execl(sys.executable, 'python', '-V')"
    )
    for python in (own, "/usr/bin/python3"):
        done = subprocess.run([*user, python, "-c", again], capture_output=True, cwd="/", check=False)
        if done.stdout:
            return (*user, python)
    return ()


@contextmanager
def _folder(ordinary: bool) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wl-", dir="/var/tmp") as folder:
        if ordinary:
            os.chown(folder, SOMEBODY, SOMEBODY)
        yield Path(folder)


def main(folder: Path, level: str) -> dict[str, str]:
    folder = Path(os.path.realpath(folder))
    if level == "forks":
        return {"said": _forks(Isolation(folder / "data", home=folder))}
    home, data = folder / "home", folder / "home" / ".local" / "share" / "windlass"
    wanted: dict[str, Any] = furnish(home, data)
    tried = {"bwrap": trial, "landlock": landlock_trial, "off": trial}[level]
    isolation = Isolation(data, hidden=[folder / "secret.toml", home / "project" / ".env"], home=home, tried=tried)
    sandbox: SandboxLevel = "off" if level == "off" else "default"
    with ExitStack() as stack:
        for name in ("a file in /tmp", "a file in /dev/shm"):
            stack.callback(os.unlink, wanted["read"][name])
        answering(stack, "\0" + wanted["abstract"])
        answering(stack, wanted["home_socket"])
        answering(stack, wanted["tmp_socket"])
        stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)).bind(wanted["datagram"])
        wanted["other"] = another_server(stack, data / "servers" / "srv-2" / "work")
        wanted["windlass"] = os.getpid()
        wanted["started"] = {str(pid): started(pid) for pid in (wanted["windlass"], wanted["other"])}
        wanted["session_key"], wanted["user_key"] = add_key(home, -3), add_key(home, -4)
        wanted["shared_memory"] = shared_memory(stack)
        wanted["terminal"], wanted["terminal_id"] = terminal(stack)
        wanted["isolated"] = level != "off"
        python = os.path.realpath(sys.executable)
        argv = [python, "-S", "-E", str(INSIDE), json.dumps(wanted), str(home / "project"), str(home / "docs")]
        config = ServerConfig("srv-1", "probe", command=argv[0], args=tuple(argv[1:]), sandbox=sandbox, confirmed=True)
        return _run(isolation.launch(config, {}), home)


def _forks(isolation: Isolation) -> str:
    script = "for n in $(seq 40); do sleep 1 & done; wait; echo all"
    config = ServerConfig("srv-1", "x", command="/bin/sh", args=("-c", script), confirmed=True)
    launch = isolation.launch(replace(config, sandbox_rules=SandboxRules(processes=16)), {})
    done = subprocess.run(launch.argv, env=dict(launch.env), capture_output=True, text=True, timeout=100, check=False)
    return done.stdout + done.stderr


def _run(launch: Launch, home: Path) -> dict[str, str]:
    with subprocess.Popen(
        launch.argv,
        env=dict(launch.env),
        cwd=launch.cwd or None,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        ready = process.stdout.readline()
        assert ready == "ready\n", ready + process.stderr.read()
        _change_from_outside(home)
        process.stdin.write("\n")
        process.stdin.flush()
        found: dict[str, str] = json.loads(process.stdout.readline())
        return found


def _change_from_outside(home: Path) -> None:
    """A file replaced by rename, as editors and `aws configure` do it, and a folder made after the start."""
    fresh = home / ".netrc.new"
    fresh.write_text(CANARY)
    fresh.rename(home / ".netrc")
    (home / ".late").mkdir()
    (home / ".late" / "credentials").write_text(CANARY)


def furnish(home: Path, data: Path) -> dict[str, Any]:
    read = {}
    for name in IN_HOME:
        path = home / name
        if Path(name).name in FILES or Path(name).suffix in (".toml", ".xml", ".properties") or "history" in name:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(CANARY)
        else:
            path.mkdir(parents=True, exist_ok=True)
            (path / "held").write_text(CANARY)
        read[f"~/{name}"] = str(path)
    others = {
        "Windlass's token": data / "token",
        "Windlass's secrets": data / "secrets.json",
        "Windlass's database": data / "windlass.db",
        "the folder of another server": data / "servers" / "srv-2" / "work" / "held",
        "a settings file elsewhere": home.parent / "secret.toml",
        "the .env in a folder it may write to": home / "project" / ".env",
        "a file in /tmp": Path(f"/tmp/windlass-probe-{os.getpid()}"),
        "a file in /dev/shm": Path(f"/dev/shm/windlass-probe-{os.getpid()}"),
    }
    for name, path in others.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CANARY)
        read[name] = str(path)
    (home / "notes.txt").write_text(CANARY)
    (home / "docs").mkdir()
    pid = os.getpid()
    return {
        "canary": CANARY,
        "read": read,
        "write": writes(home, data),
        "late": {"a file replaced by rename": f"{home}/.netrc", "a folder made later": f"{home}/.late"},
        "open_read": str(home / "notes.txt"),
        "open_write": str(home / "docs" / "made"),
        "home": str(home),
        "token": str(data / "token"),
        "abstract": f"windlass-probe-{home}",
        "home_socket": f"{home}/.agent.sock",
        "datagram": f"{home}/.log.sock",
        "tmp_socket": f"/tmp/windlass-probe-{pid}.sock",
    }


def writes(home: Path, data: Path) -> dict[str, str]:
    return {
        "what a shell runs": f"{home}/.bashrc",
        "settings in the home": f"{home}/.config/evil",
        "what a session starts": f"{home}/.config/autostart/evil.desktop",
        "a program of the person": f"{home}/.local/bin/evil",
        "Windlass's token": str(data / "token"),
        "Windlass's settings": str(data / "windlass.toml"),
        "the folder of another server": str(data / "servers" / "srv-2" / "work" / "evil"),
        "its own rules": str(data / "servers" / "srv-1" / ".rules.json"),
        "Windlass's program": str(ROOT / "src" / "windlass" / "servers" / "isolation" / "probe.py"),
        "system programs": "/usr/bin/windlass-probe",
        "system jobs": "/etc/cron.d/windlass-probe",
        "system settings": "/etc/windlass-probe",
    }


def started(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19]


def another_server(stack: ExitStack, folder: Path) -> int:
    """With a secret in its environment, its command and its folder."""
    argv = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(200)", CANARY]
    process = subprocess.Popen(argv, env={"OTHERS_TOKEN": CANARY}, cwd=folder)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process.pid


def add_key(home: Path, ring: int) -> str:
    name = f"windlass-probe-{home.parent.name}{ring}"
    _libc.syscall(_ADD_KEY, b"user", name.encode(), CANARY.encode(), len(CANARY), ring)
    return name


def shared_memory(stack: ExitStack) -> int:
    number = int(_libc.shmget(0, 4096, 0o1600))
    _libc.shmat.restype = ctypes.c_void_p
    address = _libc.shmat(number, None, 0)
    ctypes.memmove(address, CANARY.encode(), len(CANARY))
    stack.callback(lambda: _libc.shmctl(number, 0, None))
    return number


def terminal(stack: ExitStack) -> tuple[str, int]:
    ours, theirs = os.openpty()
    stack.callback(os.close, ours)
    stack.callback(os.close, theirs)
    return os.ttyname(theirs), os.fstat(theirs).st_dev


def answering(stack: ExitStack, address: str) -> None:
    """An agent: it hands its secret to whoever connects."""
    if not address.startswith("\0"):
        stack.callback(lambda: Path(address).unlink(missing_ok=True))
    listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    listener.bind(address)
    listener.listen(8)

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            client.sendall(CANARY.encode())
            client.close()

    threading.Thread(target=serve, daemon=True).start()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
