"""The command line that runs a server inside bubblewrap: a read-only system, a private home and /tmp, only the folders
that were declared, no network unless declared, and a process namespace that ends with it."""

import os
import shutil
from collections.abc import Sequence

from windlass.core.errors import Unavailable
from windlass.servers.isolation.bubblewrap import root_proc
from windlass.servers.isolation.hidden_paths import is_under
from windlass.servers.values import SandboxRules

HOME = "/home/server"
_LIMITS = ("--core=0", f"--fsize={4 << 30}", "--nofile=4096")
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64")
_ETC = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "nsswitch.conf", "localtime", "passwd", "group"),
    *("hosts", "resolv.conf", "ssl", "ca-certificates", "pki"),
)


def sandboxed(argv: Sequence[str], rules: SandboxRules, cwd: str = "", hidden: Sequence[str] = ()) -> list[str]:
    """Raises `Unavailable` when bubblewrap is not installed: a server must not run unprotected without notice."""
    program = shutil.which("bwrap")
    if program is None:
        raise Unavailable(
            "bubblewrap is not installed.", hint="Install bwrap, or set sandbox to default for this server."
        )
    return [
        program,
        *_isolation(rules),
        *_system(),
        *_folders(rules, hidden),
        *_variables(),
        *_start(cwd),
        "--",
        *_limited(argv),
    ]


def _isolation(rules: SandboxRules) -> list[str]:
    options = ["--die-with-parent", "--unshare-all", "--new-session", "--cap-drop", "ALL"]
    return [*options, "--share-net"] if rules.network else options


def _system() -> list[str]:
    binds = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        path = f"/{name}"
        if os.path.islink(path):
            binds += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            binds += ["--ro-bind", path, path]
    for name in _ETC:
        binds += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return binds


def _folders(rules: SandboxRules, hidden: Sequence[str]) -> list[str]:
    folders = ["--proc", "/proc", *root_proc(), "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/home", "--dir", HOME]  # noqa: S108
    if rules.home:
        os.makedirs(rules.home, mode=0o700, exist_ok=True)
        folders += ["--bind", rules.home, HOME]
    mounts = [(path, ["--ro-bind", path, path]) for path in rules.read]
    mounts += [(path, ["--bind", path, path]) for path in rules.write]
    mounts += _covers([path for path, _ in mounts], hidden)
    for _, options in sorted(mounts, key=lambda mount: mount[0].count("/")):
        folders += options
    # The root itself is a writable tmpfs until this.
    return [*folders, "--remount-ro", "/"]


def _covers(opened: Sequence[str], hidden: Sequence[str]) -> list[tuple[str, list[str]]]:
    """What is hidden by default and lies in a folder that is opened stays closed, unless it is named itself."""
    inside = [path for path in hidden if path not in opened and any(is_under(path, folder) for folder in opened)]
    return [
        (path, ["--tmpfs", path, "--remount-ro", path] if os.path.isdir(path) else ["--ro-bind", "/dev/null", path])
        for path in inside
    ]


def _variables() -> list[str]:
    # The values go on bwrap's own command line, which other users can read; so they are inherited, not set.
    ours = {"HOME": HOME, "TMPDIR": "/tmp"}  # noqa: S108
    return [option for name, value in ours.items() for option in ("--setenv", name, value)]


def _limited(argv: Sequence[str]) -> list[str]:
    """No core dumps, no endless files. No limit on processes: those are counted per user, not per sandbox."""
    return ["prlimit", *_LIMITS, "--", *argv] if shutil.which("prlimit") else list(argv)


def _start(cwd: str) -> list[str]:
    return ["--chdir", cwd or HOME]
