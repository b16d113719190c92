"""Runs first in a server's process: `python -I -S launcher.py ORDER -- COMMAND`. It imports nothing of Windlass, so
that a start costs some 15 ms. It takes rights away from its own process, and with `reap` it stays as the parent of all
that the server starts: what detaches itself comes back to it, and ends with the server or with Windlass."""

import ctypes
import errno
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
SCOPES = 3  # no abstract sockets and no signals beyond the server's own processes
READ = 0b1101  # run, read a file, list a folder
_FILE_RIGHTS = 0b111 | 1 << 14 | 1 << 15
_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_DEATH_SIGNAL, _NO_NEW_PRIVILEGES, _SUBREAPER, _DROP_CAPABILITY = 1, 38, 36, 24
_SET_SECCOMP, _FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06  # instructions of a filter
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000  # with an error number in the lower half
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24  # where a filter finds them
_UNIX, _DATAGRAM = 1, 2
_IO_URING_SETUP, _OTHER_NUMBERS = 425, 0x40000000
# System calls by their numbers, which differ: the architecture's own number, `socket`, `socketpair`; then those on
# keyrings, and those on memory, semaphores and messages that belong to the user.
_CALLS = {"x86_64": (0xC000003E, 41, 53), "aarch64": (0xC00000B7, 198, 199)}
_KEYRINGS = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}
_SHARED = {"x86_64": (29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220, 240), "aarch64": (180, *range(186, 197))}
_WATCHED = {signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT}
_END_S = 5.0
_libc = ctypes.CDLL(None, use_errno=True)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("fd", ctypes.c_int32)]


def main(order: dict[str, Any], argv: list[str]) -> NoReturn:
    if not order.get("reap"):
        _give_up_rights(order)
        os.execvp(argv[0], argv)  # noqa: S606
    _check(_libc.prctl(_SUBREAPER, 1, 0, 0, 0), "subreaper")
    _libc.prctl(_DEATH_SIGNAL, signal.SIGHUP, 0, 0, 0)
    if os.getppid() != order["parent"]:
        os._exit(1)  # Windlass ended before it could be watched
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    child = os.fork()
    if child == 0:
        _run(order, argv)
    _let_go_of_pipes()
    status = _watch(child)
    _end_everything()
    _end_like(status)


def _run(order: dict[str, Any], argv: list[str]) -> NoReturn:
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        _libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        _give_up_rights(order)
        os.execvp(argv[0], argv)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"{argv[0]} cannot be started: {error.strerror}\n")
    finally:
        sys.stderr.flush()
        os._exit(127)


def _let_go_of_pipes() -> None:
    """The server's end of its pipes must be the only one, or nobody would notice that it closed them."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)


def _watch(child: int) -> int:
    """Until the server's own process ends, or Windlass does; how it ended."""
    while True:
        number = signal.sigwait(_WATCHED)
        if number == signal.SIGHUP:
            return 0
        if number != signal.SIGCHLD:
            _signal_all(number)
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                return ended[1]


def _end_everything() -> None:
    ends = time.monotonic() + _END_S
    while time.monotonic() < ends:
        _signal_all(signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _signal_all(number: int) -> None:
    for pid in _descendants(os.getpid()):
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b") ")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        children.setdefault(parent, []).append(int(name))
    found, todo = [], list(children.get(root, []))
    while todo:
        found.append(pid := todo.pop())
        todo += children.get(pid, [])
    return found


def _end_like(status: int) -> NoReturn:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _give_up_rights(order: dict[str, Any]) -> None:
    for name, most in order.get("limits", {}).items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    rules = order.get("rules")
    if rules:
        _drop_capabilities()
        with open(rules) as file:
            found = json.load(file)
        _landlock(order["landlock"], found["read"], found["write"])
    elif order.get("scope"):
        _landlock(order["landlock"], [], [], files=False)
    if kind := order.get("filter"):
        _filter_calls(sockets=kind == "sockets", shared=kind != "keyrings")


def _drop_capabilities() -> None:
    """Of root, whose rights would reach past any file rule: raw disks, memory, other people's files."""
    if os.geteuid() != 0:
        return
    for number in range(64):
        if _libc.prctl(_DROP_CAPABILITY, number, 0, 0, 0) < 0:
            break
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def _landlock(version: int, read: Sequence[str], write: Sequence[str], *, files: bool = True) -> None:
    handled = (1 << _RIGHTS_BY_VERSION[min(version, 5)]) - 1 if files else 0
    scopes = 0 if version < 6 else SCOPES if files else 1  # inside a process namespace there is nobody to signal
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _check(
        _libc.syscall(CREATE_RULESET, (ctypes.c_uint64 * 3)(handled, 0, scopes), ctypes.c_size_t(size), 0), "landlock"
    )
    for path, access in [*((path, READ) for path in read), *((path, handled) for path in write)]:
        _allow(ruleset, path, access & handled)
    _check(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    _check(_libc.syscall(RESTRICT_SELF, ruleset, 0), "landlock")
    os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # gone since the rules were made
    if not os.path.isdir(path):
        access &= _FILE_RIGHTS
    _check(_libc.syscall(ADD_RULE, ruleset, 1, ctypes.byref(_PathBeneath(access, opened)), 0), path)
    os.close(opened)


class _Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32)]


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction))]


def _filter_calls(*, sockets: bool, shared: bool) -> None:
    """Keyrings belong to the user, and no namespace parts them. The rest is for Landlock, which does not govern sockets
    that lie in the file system: D-Bus or an agent would do for a server what it may not do itself. So it makes none,
    but for pairs between its own processes (a pair of datagram sockets could be connected anew), and io_uring would
    get around the filter."""
    machine = os.uname().machine
    if machine not in _CALLS:
        raise OSError(errno.ENOSYS, f"no filter for {machine}")
    architecture, socket, pair = _CALLS[machine]
    denied = [_deny(number, errno.EPERM) for number in _KEYRINGS[machine]]
    if shared:
        denied += [_deny(number, errno.EACCES) for number in _SHARED[machine]]
    if sockets:
        is_datagram = ((_LOAD, 0, 0, _SECOND), (_AND, 0, 0, 0xF), (_EQUAL, 0, 1, _DATAGRAM))
        denied.append(_deny(socket, errno.EACCES, (_LOAD, 0, 0, _FIRST), (_EQUAL, 0, 1, _UNIX)))
        denied.append(_deny(pair, errno.EACCES, *is_datagram))
        denied.append(_deny(_IO_URING_SETUP, errno.ENOSYS))
    program = [
        *((_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _FAIL | errno.ENOSYS)),
        *((_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _OTHER_NUMBERS), (_RETURN, 0, 0, _FAIL | errno.ENOSYS)),
        *(step for steps in denied for step in steps),
        (_RETURN, 0, 0, _ALLOW),
    ]
    made = (_Instruction * len(program))(*(_Instruction(*step) for step in program))
    _check(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    _check(_libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(_Filter(len(program), made)), 0, 0), "seccomp")


_Step = tuple[int, int, int, int]


def _deny(number: int, error: int, *conditions: _Step) -> list[_Step]:
    """Steps that refuse one system call where the last condition holds, and leave its number loaded for those after."""
    refuse = (_RETURN, 0, 0, _FAIL | error)
    body = [*conditions, refuse, (_LOAD, 0, 0, _NUMBER)]
    return [(_EQUAL, 0, len(body), number), *body]


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[3:])
