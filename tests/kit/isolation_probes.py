"""A home full of credentials, a Windlass folder with a token, and a program that tries to reach them under a level of
isolation. Also a command, so that an ordinary user can be tried: `python -m tests.kit.isolation_probes FOLDER LEVEL`.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from windlass.servers.isolation import Isolation, IsolationTrial, Launch, trial
from windlass.servers.isolation.hidden_paths import IN_HOME
from windlass.servers.isolation.landlock import landlock_version
from windlass.servers.values import SandboxLevel, ServerConfig

CANARY = "canary-7f3a91c2d4"
INSIDE = Path(__file__).with_name("probe_inside.py")
FILES = (".npmrc", ".netrc", ".pypirc", ".git-credentials", ".claude.json", ".vault-token", ".pgpass", ".my.cnf")


def landlock_trial() -> IsolationTrial:
    """As on a machine without bubblewrap."""
    return IsolationTrial("landlock", "bubblewrap is not installed", scope=landlock_version() >= 6)


def nothing_trial() -> IsolationTrial:
    return IsolationTrial("none", "bubblewrap is not installed, and this kernel has no Landlock")


def probe(folder: Path, level: str) -> dict[str, str]:
    """What a server at this level reaches: probe to `reached` or `closed: why`."""
    folder = Path(os.path.realpath(folder))
    home, data = folder / "home", folder / "home" / ".local" / "share" / "windlass"
    wanted = furnish(home, data)
    tried = {"bwrap": trial, "landlock": landlock_trial, "off": trial}[level]
    isolation = Isolation(data, hidden=[folder / "secret.toml", home / "project" / ".env"], home=home, tried=tried)
    sandbox: SandboxLevel = "off" if level == "off" else "default"
    with ExitStack() as stack:
        answering(stack, socket.AF_UNIX, "\0" + str(wanted["abstract"]))
        answering(stack, socket.AF_UNIX, str(wanted["home_socket"]))
        answering(stack, socket.AF_UNIX, str(wanted["tmp_socket"]))
        python = os.path.realpath(sys.executable)
        wanted["isolated"] = level != "off"
        argv = [python, "-S", "-E", str(INSIDE), json.dumps(wanted), str(home / "project"), str(home / "docs")]
        config = ServerConfig("srv-1", "probe", command=argv[0], args=tuple(argv[1:]), sandbox=sandbox, confirmed=True)
        return _run(isolation.launch(config, {}), home)


def _run(launch: Launch, home: Path) -> dict[str, str]:
    ours = {**os.environ, "PROBED_TOKEN": CANARY}
    assert "PROBED_TOKEN" not in launch.env and ours
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


def furnish(home: Path, data: Path) -> dict[str, object]:
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
        "write": {"the home": f"{home}/.bashrc", "settings in the home": f"{home}/.config/evil", "/usr": "/usr/evil"},
        "late": {"a file replaced by rename": f"{home}/.netrc", "a folder made later": f"{home}/.late"},
        "open_read": str(home / "notes.txt"),
        "open_write": str(home / "docs" / "made"),
        "home": str(home),
        "token": str(data / "token"),
        "work": str(data / "servers" / "srv-1" / "work"),
        "windlass": pid,
        "started": Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19],
        "abstract": f"windlass-probe-{home}",
        "home_socket": f"{home}/.agent.sock",
        "tmp_socket": f"/tmp/windlass-probe-{pid}-{home.parent.name}.sock",
    }


def answering(stack: ExitStack, family: int, address: str) -> None:
    """An agent: it hands its secret to whoever connects."""
    if not address.startswith("\0"):
        stack.callback(lambda: Path(address).unlink(missing_ok=True))
    listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
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
    sys.stdout.write(json.dumps(probe(Path(sys.argv[1]), sys.argv[2])))
