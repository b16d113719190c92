"""Run as a server would be: tries to reach what it must not, and prints for each probe what it got. Standard library
alone, since it runs inside. Its first argument is a JSON object of what lies where."""

import ctypes
import fcntl
import glob
import json
import os
import platform
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial

LIBC = ctypes.CDLL(None, use_errno=True)
WANTED = json.loads(sys.argv[1])
CANARY = WANTED["canary"].encode()
WINDLASS, OTHER = WANTED["windlass"], WANTED["other"]
KEYCTL = {"x86_64": 250, "aarch64": 219}.get(platform.machine(), 250)
PROCESS_VM_READV = {"x86_64": 310, "aarch64": 270}.get(platform.machine(), 310)
NAME_TO_HANDLE = {"x86_64": 303, "aarch64": 264}.get(platform.machine(), 303)
PIDFD_OPEN, PIDFD_GETFD, EFAULT = 434, 438, 14


def main() -> None:
    found = {f"read {name}": reached(partial(canary_in, path)) for name, path in WANTED["read"].items()}
    harmful = HARMFUL if WANTED["isolated"] else {}
    found |= {name: reached(probe) for name, probe in {**PROBES, **harmful}.items()}
    tell("ready")
    sys.stdin.readline()  # meanwhile files are replaced and made from outside
    found |= {f"read {name}": reached(partial(canary_in, path)) for name, path in WANTED["late"].items()}
    found["works: reads"] = reached(lambda: canary_in(WANTED["open_read"]))
    found["works: writes"] = reached(lambda: wrote(WANTED["open_write"]))
    tell(json.dumps(found))


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def reached(probe: Callable[[], bool]) -> str:
    try:
        return "reached" if probe() else "closed"
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return f"closed: {error}"


def canary_in(path: str) -> bool:
    if os.path.isdir(path):
        return any(canary_in(os.path.join(path, name)) for name in os.listdir(path))
    with open(path, "rb") as file:
        return CANARY in file.read(1 << 20)


def wrote(path: str) -> bool:
    with open(path, "ab") as file:
        file.write(b"x")
    return True


def readable_canary(path: str) -> bool:
    try:
        return canary_in(path)
    except OSError:
        return False


def own_environment() -> bool:
    return any(CANARY.decode() in value for value in os.environ.values()) or readable_canary("/proc/self/environ")


def environment_of_others() -> bool:
    return any(readable_canary(path) for path in glob.glob("/proc/[0-9]*/environ"))


def roots_of_others() -> bool:
    return any(readable_canary(f"{path}{WANTED['token']}") for path in glob.glob("/proc/[0-9]*/root"))


def is_theirs(pid: int) -> bool:
    """Whether the number means the process of outside: inside a namespace it is another, or none."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return WANTED["started"][str(pid)] in file.read().decode().rpartition(") ")[2].split()


def signals(pid: int) -> bool:
    os.kill(pid, 0)
    return is_theirs(pid)


def reads_memory(pid: int) -> bool:
    """EFAULT is the answer to a wrong address in a memory that may be read."""
    own = ctypes.create_string_buffer(8)
    local, remote = (ctypes.c_uint64 * 2)(ctypes.addressof(own), 8), (ctypes.c_uint64 * 2)(0x1000, 8)
    done = LIBC.syscall(PROCESS_VM_READV, pid, local, ctypes.c_ulong(1), remote, ctypes.c_ulong(1), ctypes.c_ulong(0))
    return is_theirs(pid) and (done >= 0 or ctypes.get_errno() == EFAULT)


def opens_memory(pid: int) -> bool:
    return is_theirs(pid) and opens(f"/proc/{pid}/mem")


def names_files(pid: int) -> bool:
    return is_theirs(pid) and any(os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd"))


def steals_a_file(pid: int) -> bool:
    opened = LIBC.syscall(PIDFD_OPEN, pid, 0)
    return opened >= 0 and is_theirs(pid) and LIBC.syscall(PIDFD_GETFD, opened, 0, 0) >= 0


def working_folder(pid: int) -> bool:
    return is_theirs(pid) and readable_canary(f"/proc/{pid}/cwd")


def connects(address: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        client.connect(address)
        return CANARY in client.recv(1000)


def sends_datagram(address: str) -> bool:
    """Also by a pair between its own processes, connected anew."""
    pair, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    pair.connect(address)
    return pair.send(b"x") == 1


def reads_keyring(name: str) -> bool:
    LIBC.syscall(KEYCTL, 8, -4, -3)  # a key can be read from where the own session leads to: so link the user's ring
    key = LIBC.syscall(KEYCTL, 10, -3, b"user", name.encode(), 0)
    read = ctypes.create_string_buffer(200)
    return key > 0 and LIBC.syscall(KEYCTL, 11, key, read, 200) > 0 and CANARY in read.raw


def reads_shared_memory() -> bool:
    LIBC.shmat.restype = ctypes.c_void_p
    address = LIBC.shmat(WANTED["shared_memory"], None, 0o10000)
    return address not in (None, ctypes.c_void_p(-1).value) and CANARY in ctypes.string_at(address, len(CANARY))


def holds_foreign_files() -> bool:
    """A file or socket of Windlass that was left open for the server."""
    return any(is_inherited(number) for number in range(3, 1000))


def is_inherited(number: int) -> bool:
    try:
        return not fcntl.fcntl(number, fcntl.F_GETFD) & fcntl.FD_CLOEXEC  # what Python opens here has the mark
    except OSError:
        return False


def writes_to_terminal() -> bool:
    return (
        opens(WANTED["terminal"], os.O_RDWR | os.O_NOCTTY)
        and WANTED["terminal_id"] == os.stat(WANTED["terminal"]).st_dev
    )


def types_into_terminal() -> bool:
    """TIOCSTI puts characters into the input of the terminal it is given."""
    for number in (0, 1, 2):
        try:
            fcntl.ioctl(number, 0x5412, b"x")
            return True
        except OSError:
            continue
    return opens("/dev/tty")


def links_to(path: str) -> bool:
    os.link(path, link := own_path("linked"))
    return canary_in(link)


def follows_a_link_of_its_own() -> bool:
    os.symlink(WANTED["token"], link := own_path("leads"))
    return canary_in(link)


def own_path(name: str) -> str:
    return os.path.join(f"{WANTED['home']}/docs", name)


def moves_a_hidden_folder() -> bool:
    os.rename(f"{WANTED['home']}/.ssh", own_path("moved"))
    return canary_in(own_path("moved"))


def uncovers() -> bool:
    for flag in (0, 2):
        LIBC.umount2(os.path.dirname(WANTED["token"]).encode(), flag)
        LIBC.umount2(WANTED["home"].encode(), flag)
    LIBC.mount(b"none", b"/", None, 32 | 4096, None)  # remount, writable
    return readable_canary(WANTED["token"])


def in_a_namespace(script: str, *options: str) -> bool:
    done = subprocess.run(["unshare", "-Urm", *options, "sh", "-c", script], capture_output=True, timeout=10)
    return CANARY in done.stdout


def uncovers_in_a_namespace() -> bool:
    folder = os.path.dirname(WANTED["token"])
    return in_a_namespace(f"umount -l {WANTED['home']}; umount -l {folder}; cat {WANTED['token']}")


def mounts_proc_anew() -> bool:
    return in_a_namespace("mount -t proc proc /proc; cat /proc/[0-9]*/environ", "-p", "--fork")


def enters_a_namespace() -> bool:
    for path in glob.glob("/proc/[0-9]*/ns/mnt"):
        try:
            opened = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        if LIBC.setns(opened, 0) == 0 and readable_canary(WANTED["token"]):
            return True
    return False


def attaches() -> bool:
    return LIBC.ptrace(16, WINDLASS, 0, 0) == 0 and os.path.exists(f"/proc/{WINDLASS}")


def becomes_another() -> bool:
    os.setgroups([0])
    os.setuid(0 if os.getuid() else 1)
    return True


def changes_root() -> bool:
    os.chroot("/proc/self/root/..")
    return True


def opens_by_handle() -> bool:
    """How files beside a mount are opened with the rights of root."""
    handle = (ctypes.c_uint32 * 34)(128)
    mount = ctypes.c_int()
    if LIBC.syscall(NAME_TO_HANDLE, -100, b"/etc/passwd", handle, ctypes.byref(mount), 0) < 0:
        return False
    return bool(LIBC.syscall(NAME_TO_HANDLE + 1, os.open("/", os.O_RDONLY), handle, os.O_RDONLY) >= 0)


def makes_a_disk() -> bool:
    os.mknod(path := own_path("disk"), 0o60600, os.makedev(254, 0))
    return opens(path)


def opens(path: str, flags: int = os.O_RDONLY) -> bool:
    try:
        os.close(os.open(path, flags))
    except OSError:
        return False
    return True


def opens_any(*patterns: str, flags: int = os.O_RDONLY) -> bool:
    return any(opens(path, flags) for pattern in patterns for path in glob.glob(pattern))


PROBES: dict[str, Callable[[], bool]] = {
    "own environment": own_environment,
    "environment of other processes": environment_of_others,
    "files through the root of other processes": roots_of_others,
    "signal Windlass": partial(signals, WINDLASS),
    "signal another server": partial(signals, OTHER),
    "memory of Windlass": partial(reads_memory, WINDLASS),
    "memory of Windlass as a file": partial(opens_memory, WINDLASS),
    "memory of another server": partial(reads_memory, OTHER),
    "names of Windlass's open files": partial(names_files, WINDLASS),
    "an open file of Windlass": partial(steals_a_file, WINDLASS),
    "working folder of another server": partial(working_folder, OTHER),
    "command line of another server": lambda: readable_canary(f"/proc/{OTHER}/cmdline"),
    "files left open for the server": holds_foreign_files,
    "abstract socket": lambda: connects("\0" + WANTED["abstract"]),
    "socket in the home": lambda: connects(WANTED["home_socket"]),
    "socket in /tmp": lambda: connects(WANTED["tmp_socket"]),
    "datagram socket in the home": lambda: sends_datagram(WANTED["datagram"]),
    "session keyring": partial(reads_keyring, WANTED["session_key"]),
    "user keyring": partial(reads_keyring, WANTED["user_key"]),
    "shared memory": reads_shared_memory,
    "terminal of the person": writes_to_terminal,
    "hard link to the token": lambda: links_to(WANTED["token"]),
    "link to the token": follows_a_link_of_its_own,
}
HARMFUL: dict[str, Callable[[], bool]] = {  # where nothing isolates
    **{f"write {name}": partial(wrote, path) for name, path in WANTED["write"].items()},
    "trace Windlass": attaches,
    "type into the terminal": types_into_terminal,
    "move a hidden folder": moves_a_hidden_folder,
    "take away the covers": uncovers,
    "take away the covers in a namespace": uncovers_in_a_namespace,
    "mount /proc anew": mounts_proc_anew,
    "enter another namespace": enters_a_namespace,
    "become another user": becomes_another,
    "change the root": changes_root,
    "open a file by its handle": opens_by_handle,
    "read a disk": lambda: opens_any("/dev/[sv]d[a-z]*", "/dev/nvme*", "/dev/loop*", "/dev/dm-*", "/dev/mapper/*"),
    "make a disk": makes_a_disk,
    "memory of the machine": lambda: opens_any("/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore"),
    "log of the kernel": lambda: opens("/dev/kmsg"),
    "handler of core dumps": lambda: opens("/proc/sys/kernel/core_pattern", os.O_WRONLY),
    "helper of the kernel": lambda: opens_any(
        "/sys/kernel/uevent_helper", "/sys/fs/cgroup/*/release_agent", "/proc/sys/kernel/modprobe", flags=os.O_WRONLY
    ),
    "magic keys of the kernel": lambda: opens("/proc/sysrq-trigger", os.O_WRONLY),
}
signal.alarm(100)

if __name__ == "__main__":
    main()
