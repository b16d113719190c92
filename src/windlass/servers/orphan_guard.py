"""Kills our servers when we die, however we die. One small shell per Windlass process reads from a pipe: while we live
it learns which process groups are ours; when the pipe closes, by exit or by SIGKILL, it kills them."""

import os
import subprocess

# The numbers are kept in one string, separated by spaces, so that any POSIX sh will do.
_WATCH = """
trap '' INT TERM HUP QUIT
groups=' '
while read -r verb group; do
  case $verb in
    add) groups="$groups$group " ;;
    drop)
      kept=' '
      for one in $groups; do [ "$one" = "$group" ] || kept="$kept$one "; done
      groups=$kept ;;
  esac
done
for one in $groups; do kill -s KILL -- "-$one" 2>/dev/null; done
"""


class OrphanGuard:
    """Started with the first group it has to watch. Does nothing on Windows, which has no /bin/sh."""

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        self._pipe = -1
        self._groups: set[int] = set()

    def add(self, group: int) -> None:
        self._groups.add(group)
        if self._shell is None or self._shell.poll() is not None:
            self._start()
            for known in self._groups:
                self._send(f"add {known}\n")
        else:
            self._send(f"add {group}\n")

    def drop(self, group: int) -> None:
        self._groups.discard(group)
        self._send(f"drop {group}\n")

    def close(self) -> None:
        if self._shell is None:
            return
        os.close(self._pipe)
        self._shell.wait()
        self._shell, self._pipe = None, -1

    @property
    def pid(self) -> int | None:
        return self._shell.pid if self._shell else None

    def _start(self) -> None:
        if os.name != "posix":
            return
        if self._pipe >= 0:
            os.close(self._pipe)
        end, self._pipe = os.pipe()
        try:
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", _WATCH],
                stdin=end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": "/usr/bin:/bin"},
                start_new_session=True,  # a Ctrl-C in our terminal must not reach it
            )
        finally:
            os.close(end)

    def _send(self, line: str) -> None:
        if self._pipe < 0:
            return
        try:
            os.write(self._pipe, line.encode())
        except BrokenPipeError:
            self._shell = None
