"""The command line of the default isolation with bubblewrap. The whole system can be read, little can be written, and
what is hidden is not there: the home, and each folder on the way to a hidden entry, is built again from its present
entries without the hidden ones. A cover over the entry would not do: it is lost when somebody replaces the file from
outside, and a folder that is made later would be open."""

import os
from collections.abc import Iterable, Sequence

from windlass.core.values import value_object
from windlass.servers.isolation.hidden_paths import RUN_KEPT, is_socket, is_under
from windlass.servers.isolation.named_paths import PRIVATE

MOST_ENTRIES = 1000  # above this a start takes seconds, and bubblewrap takes at most 9000 arguments
_NAMESPACES = (
    *("--die-with-parent", "--new-session", "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--cap-drop", "ALL"),
)
_ROOTS_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr")


@value_object
class MountPlan:
    """`code` are folders the program lies in, where they are in one that is private inside, such as /tmp."""

    home: str
    hidden: tuple[str, ...]
    read: tuple[str, ...]
    write: tuple[str, ...]
    code: tuple[str, ...]
    private: str
    empty: str
    cwd: str

    @property
    def rebuilds_home(self) -> bool:
        return self.home != "/" and not _in_any(self.home, (*self.hidden, *self.write))


@value_object
class Wrapped:
    argv: tuple[str, ...]
    covers: tuple[str, ...]  # hidden paths inside a writable folder: the cover must be watched
    crowded: bool = False  # the home has too many entries to be built again


def base_arguments() -> list[str]:
    """Namespaces, and a system that is read-only. What the trial run tries."""
    found = [*_NAMESPACES, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    if os.geteuid() == 0:  # the settings of the kernel are writable for root even in a namespace
        for name in _ROOTS_PROC:
            if os.path.exists(f"/proc/{name}"):
                found += ["--ro-bind", f"/proc/{name}", f"/proc/{name}"]
    for folder in PRIVATE:
        found += ["--tmpfs", folder]
    for name in RUN_KEPT:
        found += ["--ro-bind-try", f"/run/{name}", f"/run/{name}"]
    return [*found, "--remount-ro", "/run"]


def wrapped(bwrap: str, plan: MountPlan, argv: Sequence[str]) -> Wrapped:
    rebuilt = _Rebuilt(plan)
    is_crowded = rebuilt.count > MOST_ENTRIES
    arguments = rebuilt.covered() if is_crowded else rebuilt.arguments
    mounts = [*_covers(plan, is_crowded), *_openings(plan)]
    mounts.sort(key=lambda mount: (mount[0].count("/"), mount[0]))  # a deeper mount wins over what contains it
    for _, options in mounts:
        arguments += options
    arguments += ["--bind", plan.private, plan.private]
    for folder in [*([] if is_crowded else rebuilt.folders), *_covered_folders(plan, is_crowded)]:
        arguments += ["--remount-ro", folder]
    full = [bwrap, *base_arguments(), *arguments, "--chdir", plan.cwd, "--", *argv]
    watched = [path for path, _ in _covers(plan, is_crowded) if _in_any(path, plan.write)]
    return Wrapped(tuple(full), tuple(watched), is_crowded)


class _Rebuilt:
    """The home without what is hidden, as arguments."""

    def __init__(self, plan: MountPlan) -> None:
        self._plan = plan
        self.folders: list[str] = []
        self.arguments: list[str] = []
        self.count = 0
        if plan.rebuilds_home:
            self._fill(plan.home)

    def covered(self) -> list[str]:
        home = self._plan.home
        return ["--ro-bind", home, home] if _in_any(home, PRIVATE) else []

    def _fill(self, folder: str) -> None:
        self.arguments += ["--tmpfs", folder]
        self.folders.append(folder)
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            return
        for name in names:
            self._entry(os.path.join(folder, name))

    def _entry(self, path: str) -> None:
        self.count += 1
        if path in self._plan.hidden or self.count > MOST_ENTRIES:
            return
        if os.path.islink(path):
            self.arguments += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path) and self._leads_to_hidden(path):
            self._fill(path)
        elif not is_socket(path):
            self.arguments += ["--ro-bind-try", path, path]

    def _leads_to_hidden(self, path: str) -> bool:
        return any(is_under(hidden, path) for hidden in self._plan.hidden) and not _in_any(path, self._plan.write)


def _covers(plan: MountPlan, crowded: bool) -> Iterable[tuple[str, list[str]]]:
    for path in plan.hidden:
        in_home = plan.rebuilds_home and is_under(path, plan.home)
        if in_home and not crowded and not _in_any(path, plan.write):
            continue  # not there at all
        if _in_any(path, (*PRIVATE, "/proc", "/dev")) and not in_home and not _in_any(path, (*plan.write, *plan.read)):
            if not _in_any(path, plan.code):
                continue
        yield path, ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", plan.empty, path]


def _covered_folders(plan: MountPlan, crowded: bool) -> list[str]:
    """Read-only only at the end: the server's own folder may lie inside one."""
    return [path for path, options in _covers(plan, crowded) if options[0] == "--tmpfs"]


def _openings(plan: MountPlan) -> Iterable[tuple[str, list[str]]]:
    for path in plan.code:
        yield path, ["--ro-bind", path, path]
    for path in plan.read:
        yield path, ["--ro-bind-try", path, path]
    for path in plan.write:
        yield path, ["--bind-try", path, path]


def _in_any(path: str, folders: Iterable[str]) -> bool:
    return any(is_under(path, folder) for folder in folders)
