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
    """`settings` are hidden files that Windlass reads and people edit. `code` are folders the program lies in, where
    those are in one that is private inside, such as /tmp. `protected` stays read-only although it lies in a folder that
    can be written."""

    home: str
    hidden: tuple[str, ...]
    settings: tuple[str, ...]
    read: tuple[str, ...]
    write: tuple[str, ...]
    code: tuple[str, ...]
    protected: tuple[str, ...]
    private: str
    private_write: tuple[str, ...]
    empty: str
    cwd: str

    @property
    def rebuilt(self) -> list[str]:
        """Folders that are built again. An editor replaces a file by renaming, which would take its cover away: so the
        folders of settings are among them."""
        homes = [self.home] if self.home != "/" and not _in_any(self.home, (*self.hidden, *self.write)) else []
        folders = sorted({os.path.dirname(path) for path in self.settings if not is_under(path, self.home)})
        closed = (*self.opened, *self.hidden, *PRIVATE)
        return homes + [folder for folder in folders if not is_under(self.home, folder) and not _in_any(folder, closed)]

    @property
    def opened(self) -> tuple[str, ...]:
        return (*self.read, *self.write, *self.code)


@value_object
class Wrapped:
    argv: tuple[str, ...]
    covers: tuple[str, ...]  # hidden paths inside a folder that was opened: the cover must be watched
    crowded: bool = False  # the home has too many entries to be built again


CLOSE_RUN = ("--remount-ro", "/run")  # last: what is opened may lie inside


def base_arguments() -> list[str]:
    """Namespaces, and a system that is read-only. What the trial run tries."""
    found = [*_NAMESPACES, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *root_proc()]
    for folder in PRIVATE:
        found += ["--tmpfs", folder]
    for name in RUN_KEPT:
        found += ["--ro-bind-try", f"/run/{name}", f"/run/{name}"]
    return found


def root_proc() -> list[str]:
    """The settings of the kernel, which are writable for root even in a namespace."""
    names = [name for name in _ROOTS_PROC if os.geteuid() == 0 and os.path.exists(f"/proc/{name}")]
    return [option for name in names for option in ("--ro-bind", f"/proc/{name}", f"/proc/{name}")]


def wrapped(bwrap: str, plan: MountPlan, argv: Sequence[str]) -> Wrapped:
    rebuilt = _Rebuilt(plan)
    is_crowded = rebuilt.count > MOST_ENTRIES
    arguments = rebuilt.covered() if is_crowded else rebuilt.arguments
    covers = list(_covers(plan, is_crowded))
    mounts = [*_pins(plan, [path for path, _ in covers]), *_openings(plan), *covers]
    mounts.sort(key=lambda mount: (mount[0].count("/"), mount[0]))  # a deeper mount wins
    for _, options in mounts:
        arguments += options
    arguments += ["--ro-bind", plan.private, plan.private]
    for folder in plan.private_write:
        arguments += ["--bind", folder, folder]
    covered = [path for path, options in covers if options[0] == "--tmpfs"]
    for folder in [*([] if is_crowded else rebuilt.folders), *covered]:  # only now: what is opened may lie inside
        arguments += ["--remount-ro", folder]
    full = [bwrap, *base_arguments(), *arguments, *CLOSE_RUN, "--chdir", plan.cwd, "--", *argv]
    watched = [path for path, _ in covers if _in_any(path, plan.opened)]
    return Wrapped(tuple(full), tuple(watched), is_crowded)


class _Rebuilt:
    """The home and the folders of settings without what is hidden, as arguments."""

    def __init__(self, plan: MountPlan) -> None:
        self._plan = plan
        self.folders: list[str] = []
        self.arguments: list[str] = []
        self.count = 0
        for folder in plan.rebuilt:
            if not _in_any(folder, self.folders):
                self._fill(folder)

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
        if target := _link(path):
            self.arguments += ["--symlink", target, path]
        elif os.path.isdir(path) and self._leads_to_hidden(path):
            self._fill(path)
        elif not is_socket(path):
            self.arguments += ["--ro-bind-try", path, path]

    def _leads_to_hidden(self, path: str) -> bool:
        return any(is_under(hidden, path) for hidden in self._plan.hidden) and not _in_any(path, self._plan.opened)


def _covers(plan: MountPlan, crowded: bool) -> Iterable[tuple[str, list[str]]]:
    rebuilt = plan.rebuilt
    for path in plan.hidden:
        is_private = _in_any(path, (*PRIVATE, "/proc", "/dev"))
        is_there = crowded if _in_any(path, rebuilt) else not is_private
        if is_there or _in_any(path, plan.opened):
            yield path, ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", plan.empty, path]


def _pins(plan: MountPlan, covered: Iterable[str]) -> Iterable[tuple[str, list[str]]]:
    """Folders between one that can be written and what is covered or protected in it. As mounts of their own they
    cannot be renamed, to put something else in the place of what they hold."""
    for path in plan.protected:
        if _in_any(path, plan.write):
            yield path, ["--ro-bind", path, path]
    for path in (*plan.protected, *covered):
        above = os.path.dirname(path)
        while _in_any(above, plan.write) and above not in plan.write:
            yield above, ["--bind", above, above]
            above = os.path.dirname(above)


def _openings(plan: MountPlan) -> Iterable[tuple[str, list[str]]]:
    for path in plan.code:
        yield path, ["--ro-bind", path, path]
    for path in plan.read:
        yield path, ["--ro-bind-try", path, path]
    for path in plan.write:
        yield path, ["--bind-try", path, path]


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:  # not a link, or gone by now
        return ""


def _in_any(path: str, folders: Iterable[str]) -> bool:
    return any(is_under(path, folder) for folder in folders)
