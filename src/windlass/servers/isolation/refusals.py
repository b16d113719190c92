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
from windlass.servers.values import SandboxRules

MOST = 10
ENDS = 4000  # what is looked at of each end of a text: an error is short, a document is not one
_WRITE = re.compile(
    r"EROFS|read-?only (file ?system|database)|could not be obtained|unable to open database|"
    r"Permission ?denied|EACCES|not permitted|cannot create|could not create|failed to write",
    re.IGNORECASE,
)
_READ = re.compile(r"ENOENT|no such file|not found|does not exist|EACCES|permission ?denied|cannot open", re.IGNORECASE)
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
    write: tuple[str, ...] = ()
    kept_out: tuple[str, ...] = ()
    never: tuple[str, ...] = ()  # Windlass's own folder: no line opens it
    protected: tuple[str, ...] = ()  # inside of `write`, and yet read-only


def refusals(text: str, limits: Allowance, arguments: Sequence[str] = ()) -> list[Refusal]:
    """`arguments` are the texts a call was made with: some programs do not name the file that failed."""
    shown = text if len(text) <= 2 * ENDS else f"{text[:ENDS]}\n{text[-ENDS:]}"
    writes, reads = _WRITE.search(shown), _READ.search(shown)
    if not writes and not reads:
        return []
    named = list(dict.fromkeys(_paths(shown, limits.home)))
    found = [one for path in named if (one := _hidden(path, limits))]
    if writes:
        found += [one for path in named if (one := _read_only(path, limits))]
    if writes and not found:
        others = [*_paths("\n".join(arguments), limits.home), *limits.kept_out]
        found = [one for path in others if (one := _hidden(path, limits) or _read_only(path, limits))][:1]
    return list(dict.fromkeys(found))[:MOST]


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
        if os.path.exists(path := f"{limits.home}/{name}"):
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
    if folder == "/" or any(is_under(folder, open_) for open_ in (*limits.write, "/tmp", "/dev", "/proc", "/run")):  # noqa: S108
        return None
    if any(is_under(limits_path, folder) or is_under(folder, limits_path) for limits_path in limits.never):
        return None
    return Refusal(folder, "write") if os.access(folder, os.W_OK) else None
