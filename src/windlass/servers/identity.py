"""What a server really runs, so that a program which was replaced under a confirmed command is noticed: the path of the
program, the content of the program and its script, the version of its package, and the name and version it gives
itself.

Launchers and interpreters count by their path: an update of the system asks nothing. The version that `npx` or `uvx`
fetched is known once they have run."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from windlass.core.values import value_object
from windlass.servers.packages import package_of
from windlass.servers.values import ServerConfig

LAUNCHERS = frozenset(
    {
        *("npx", "npm", "pnpm", "yarn", "bunx", "bun", "deno", "node", "nodejs", "tsx", "ts-node"),
        *("uvx", "uv", "pipx", "python", "python3", "pypy3", "ruby", "perl", "php", "java", "dotnet", "go", "cargo"),
        *("docker", "podman", "nerdctl", "sh", "bash", "zsh", "dash", "env", "cmd", "powershell", "pwsh"),
    }
)
SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".sh", ".rb", ".pl", ".php", ".jar", ".dll", ".exe")


@value_object
class ProgramIdentity:
    """`files` holds the digest of each file that is code; `program` is empty until the server has told its name, and
    `package` where no package can be found."""

    argv: tuple[str, ...]
    path: str = ""
    files: Mapping[str, str] | None = None
    program: str = ""
    package: str = ""


class ProgramChanged(Exception):
    """What would run is not what was confirmed. The message says what changed."""


class Identities(Protocol):
    """What was confirmed, or first seen, by the server's id."""

    def get(self, server_id: str) -> ProgramIdentity | None: ...

    def keep(self, server_id: str, identity: ProgramIdentity) -> None: ...


class KnownForNow:
    """Identities of this process alone."""

    def __init__(self) -> None:
        self._known: dict[str, ProgramIdentity] = {}

    def get(self, server_id: str) -> ProgramIdentity | None:
        return self._known.get(server_id)

    def keep(self, server_id: str, identity: ProgramIdentity) -> None:
        self._known[server_id] = identity


def identity_of(config: ServerConfig, search_path: str | None = None, caches: Sequence[str] = ()) -> ProgramIdentity:
    """Reads whole files; call it off the event loop. `search_path` is a PATH of its own, where one is declared, and
    `caches` where package managers keep what they fetched for this server."""
    path = shutil.which(config.command, path=search_path) or config.command
    files = {file: _digest(file) for file in _code(config, path)}
    return ProgramIdentity(config.argv, path, files, package=package_of(config.argv, path, files, caches))


def with_package(identity: ProgramIdentity, caches: Sequence[str]) -> ProgramIdentity:
    """Once more, after a start that may have fetched another version."""
    return replace(identity, package=package_of(identity.argv, identity.path, identity.files or {}, caches))


def difference(known: ProgramIdentity, now: ProgramIdentity) -> str:
    """What changed under the same command, for a person; "" where nothing did, or where it is not known yet."""
    if known.argv != now.argv:  # another command, which was confirmed by itself
        return ""
    if known.path != now.path:
        return f"it now runs {now.path}, and ran {known.path}"
    before, after = dict(known.files or {}), dict(now.files or {})
    if changed := sorted(file for file in before.keys() | after.keys() if before.get(file) != after.get(file)):
        return f"{changed[0]} has another content"
    if known.package and now.package and known.package != now.package:
        return f"its package is now {now.package}, and was {known.package}"
    if known.program and now.program and known.program != now.program:
        return f"it calls itself {now.program}, and called itself {known.program}"
    return ""


def _code(config: ServerConfig, path: str) -> Iterator[str]:
    if not _is_launcher(path):
        yield os.path.realpath(path)
    for argument in config.args:
        file = os.path.join(config.cwd or os.getcwd(), os.path.expanduser(argument))
        if argument.lower().endswith(SCRIPTS) and os.path.isfile(file):
            yield os.path.realpath(file)


def _is_launcher(path: str) -> bool:
    """`python3.12` and `node.exe` too."""
    name = os.path.basename(path).lower().removesuffix(".exe").removesuffix(".cmd")
    return name in LAUNCHERS or name.rstrip("0123456789.") in LAUNCHERS


def _digest(file: str) -> str:
    try:
        with open(file, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:  # one that cannot be read cannot be compared; starting it will say more
        return f"unreadable: {error.strerror}"
