"""All that one start opens beside the system: what the command names, its `cwd`, and the lines under `inside`.

A server could plant a link in a folder it may write to, for its next start to open what the link leads to. So no path
counts that leads through a link in such a folder."""

import os
from collections.abc import Iterable, Mapping, Sequence

from windlass.core.values import value_object
from windlass.servers.isolation.hidden_paths import is_under
from windlass.servers.isolation.named_paths import Borders, NamedPath, may_open, named_paths
from windlass.servers.values import ServerConfig


@value_object
class Openings:
    read: tuple[str, ...]
    write: tuple[str, ...]
    kept_out: tuple[str, ...]  # named, but not opened: the likely reason for what then fails


def openings(config: ServerConfig, declared: Mapping[str, str], cwd: str, borders: Borders) -> Openings:
    named, kept_out = named_paths(config.argv, declared, cwd, borders)
    if config.cwd and may_open(cwd, borders):
        named.append(NamedPath(config.cwd, cwd))
    read, write = _lines_of(config, borders)
    writable = {path.opens for path in (*named, *write)}
    kept_out += [path.path for path in named if is_planted(path.path, writable)]
    return Openings(
        _without_planted(read, writable),
        _without_planted([*named, *write], writable),
        tuple(sorted(set(kept_out))),
    )


def lines_alone(config: ServerConfig, borders: Borders) -> Openings:
    """What a strict sandbox opens."""
    read, write = _lines_of(config, borders)
    writable = {path.opens for path in write}
    return Openings(_without_planted(read, writable), _without_planted(write, writable), ())


def _lines_of(config: ServerConfig, borders: Borders) -> tuple[list[NamedPath], list[NamedPath]]:
    """What `inside` names to be read and to be written. No line opens the whole system or Windlass's own folder, and
    the home can be read as it is."""
    data = None if config.bundled else borders.data
    read = [path for path in _lines(config.sandbox_rules.read, data) if not is_under(borders.home, path.opens)]
    return read, _lines(config.sandbox_rules.write, data)


def is_planted(path: str, writable: Iterable[str]) -> bool:
    """Whether a link on the way lies in one of the folders."""
    folders = list(writable)
    reached = "/"
    for name in os.path.normpath(path).split("/"):
        step = os.path.join(reached, name)
        if os.path.islink(step) and any(is_under(reached, folder) for folder in folders):
            return True
        reached = os.path.realpath(step)
    return False


def _lines(paths: Sequence[str], data: str | None) -> list[NamedPath]:
    absolute = [os.path.abspath(os.path.expanduser(path)) for path in paths]
    found = [NamedPath(path, os.path.realpath(path)) for path in absolute]
    return [path for path in found if path.opens != "/" and (data is None or not is_under(path.opens, data))]


def _without_planted(paths: Iterable[NamedPath], writable: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path.opens for path in paths if not is_planted(path.path, writable)))
