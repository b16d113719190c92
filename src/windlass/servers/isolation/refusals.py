"""Finds what isolation refused a server, in what it wrote and answered, and names the line that allows it. A program
does not know that it is isolated: it reports a read-only file system, a lock it cannot take, or a file that is not
there."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from windlass.core.values import value_object
from windlass.servers.isolation.hidden_paths import IN_HOME, is_under
from windlass.servers.isolation.known_errors import meant, meant_by_landlock
from windlass.servers.values import SandboxRules

MOST = 10
ENDS = 4000  # what is looked at of each end of a text: an error is short, a document is not one
_WRITE = re.compile(
    r"EROFS|read-?only (file ?system|database)|could not be obtained|unable to open database|"
    r"Permission ?denied|EACCES|not permitted|cannot create|could not create|failed to write|ENOENT.* mkdir",
    re.IGNORECASE,
)
_READ = re.compile(r"ENOENT|no such file|not found|does not exist|EACCES|permission ?denied|cannot open", re.IGNORECASE)
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/boot", "/dev", "/proc", "/sys", "/run", "/nix"),
    "/snap",
)
_PATH = re.compile(r"(?:~|(?<![\w.:/-]))/[^\s'\"`:;,()<>\[\]{}|*]+")


@value_object
class Refusal:
    path: str
    access: Literal["read", "write"]


@value_object
class Allowance:
    """What a start allowed, to tell a refusal of ours from one of the system."""

    home: str = ""
    hidden: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    kept_out: tuple[str, ...] = ()
    never: tuple[str, ...] = ()  # Windlass's own folder: no line opens it
    protected: tuple[str, ...] = ()  # inside of `write`, and yet read-only
    by_landlock: bool = False


def refusals(text: str, limits: Allowance, arguments: Sequence[str] = ()) -> list[Refusal]:
    """`arguments` are the texts a call was made with: some programs do not name the file that failed."""
    shown = text if len(text) <= 2 * ENDS else f"{text[:ENDS]}\n{text[-ENDS:]}"
    found = list(_known(shown, limits))
    writes, reads = _lines(shown, _WRITE), _lines(shown, _READ)
    found += [one for path in _paths(reads + writes, limits.home) if (one := _hidden(path, limits))]
    found += [one for path in _paths(writes, limits.home) if (one := _read_only(path, limits))]
    if writes and not found:
        others = [*_paths("\n".join(arguments), limits.home), *limits.kept_out]
        found = [one for path in others if (one := _hidden(path, limits) or _read_only(path, limits))][:1]
    return list(dict.fromkeys(found))[:MOST]


def _lines(text: str, pattern: re.Pattern[str]) -> str:
    """Those that hold an error. The lines around it name files as well, such as those of a traceback."""
    return "".join(f"{line}\n" for line in text.splitlines() if pattern.search(line))


def _known(text: str, limits: Allowance) -> Iterator[Refusal]:
    if limits.by_landlock:
        yield from (Refusal(path, access) for path, access in meant_by_landlock(text) if path not in limits.write)
    for path in meant(text):
        real = os.path.realpath(limits.home + path[1:] if path.startswith("~") else path)
        if os.path.exists(real) and (one := _hidden(real, limits)):
            yield one


def opened(rules: SandboxRules, refusal: Refusal) -> SandboxRules:
    """The rules with one more path in them, which allow what was refused."""
    if refusal.access == "read":
        return replace(rules, read=tuple(dict.fromkeys((*rules.read, refusal.path))))
    return replace(rules, write=tuple(dict.fromkeys((*rules.write, refusal.path))))


def line_that_allows(slug: str, rules: SandboxRules, refusal: Refusal) -> str:
    """For windlass.toml; the paths that were open before are in it."""
    paths = getattr(opened(rules, refusal), refusal.access)
    listed = ", ".join(json.dumps(path, ensure_ascii=False) for path in paths)
    return f"[servers.{slug}.inside]\n{refusal.access} = [{listed}]"


class RefusalLog:
    """What was refused one server since its configuration last changed."""

    def __init__(self) -> None:
        self._found: dict[Refusal, None] = {}

    @property
    def found(self) -> tuple[Refusal, ...]:
        return tuple(self._found)[:MOST]

    def look_at(self, text: str, limits: Allowance, arguments: Sequence[str] = ()) -> None:
        if len(self._found) < MOST:
            self._found.update(dict.fromkeys(refusals(text, limits, arguments)))

    def clear(self) -> None:
        self._found.clear()


def _paths(text: str, home: str) -> Iterable[str]:
    for match in _PATH.finditer(text):
        path = match[0].rstrip(".")
        yield os.path.normpath(home + path[1:] if path.startswith("~") else path)


def _hidden(path: str, limits: Allowance) -> Refusal | None:
    if any(is_under(path, never) for never in limits.never):
        return None
    if entry := next((entry for entry in _entries(limits) if is_under(path, entry)), ""):
        return Refusal(entry, "read")
    return None


def _entries(limits: Allowance) -> Iterator[str]:
    """Also those that were not there at the start: they are seen after a restart only when a line opens them."""
    yield from limits.hidden
    for name in IN_HOME:
        path = f"{limits.home}/{name}"
        if os.path.exists(path) and os.path.realpath(path) not in (*limits.read, *limits.write):
            yield path


def _read_only(path: str, limits: Allowance) -> Refusal | None:
    """The folder that would have to be writable; None where the system itself forbids it."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    if os.path.basename(folder) == ".git":
        folder = os.path.dirname(folder)
    while folder != "/" and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    if guarded := next((path for path in limits.protected if is_under(folder, path)), ""):
        return Refusal(guarded, "write")
    private = () if limits.by_landlock or is_under(folder, limits.home) else ("/tmp", "/var/tmp")  # noqa: S108
    if folder == "/" or any(is_under(folder, other) for other in (*limits.write, *_SYSTEM, *private)):
        return None
    if any(is_under(folder, never) for never in limits.never):
        return None
    if limits.by_landlock and any(is_under(path, folder) for path in limits.hidden):
        return None  # no line would help: only what lies in such a folder already can be opened, not the folder
    return Refusal(folder, "write") if os.access(folder, os.W_OK) else None
