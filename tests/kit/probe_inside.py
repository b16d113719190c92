"""Run as a server would be: tries to reach what it must not, and prints for each probe what it got. Standard library
alone, since it runs inside. Its one argument is a JSON object of what lies where."""

import ctypes
import glob
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial

LIBC = ctypes.CDLL(None, use_errno=True)
WANTED = json.loads(sys.argv[1])
CANARY = WANTED["canary"].encode()


def main() -> None:
    found = {name: reached(partial(canary_in, path)) for name, path in WANTED["read"].items()}
    found |= {name: reached(partial(wrote, path)) for name, path in WANTED["write"].items()}
    if WANTED["isolated"]:  # else they would do harm
        found |= {name: reached(probe) for name, probe in PROBES.items()}
    tell("ready")
    sys.stdin.readline()  # meanwhile files are replaced and made from outside
    found |= {name: reached(partial(canary_in, path)) for name, path in WANTED["late"].items()}
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


def environ_of_others() -> bool:
    return any(readable_canary(path) for path in glob.glob("/proc/[0-9]*/environ"))


def roots_of_others() -> bool:
    return any(readable_canary(f"{path}{WANTED['token']}") for path in glob.glob("/proc/[0-9]*/root"))


def readable_canary(path: str) -> bool:
    try:
        return canary_in(path)
    except OSError:
        return False


def signals_windlass() -> bool:
    os.kill(WANTED["windlass"], 0)
    with open(f"/proc/{WANTED['windlass']}/stat", "rb") as file:
        return WANTED["started"] in file.read().decode()


def connects(family: int, address: str) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        client.connect(address)
        return CANARY in client.recv(1000)


def uncovers() -> bool:
    for flag in (0, 2):
        LIBC.umount2(os.path.dirname(WANTED["token"]).encode(), flag)
        LIBC.umount2(WANTED["home"].encode(), flag)
    LIBC.mount(b"none", b"/", None, 32 | 4096, None)  # remount, writable
    return readable_canary(WANTED["token"])


def uncovers_in_a_namespace() -> bool:
    script = f"umount -l {WANTED['home']}; umount -l {os.path.dirname(WANTED['token'])}; cat {WANTED['token']}"
    done = subprocess.run(["unshare", "-Urm", "sh", "-c", script], capture_output=True, timeout=10)
    return CANARY in done.stdout


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
    return LIBC.ptrace(16, WANTED["windlass"], 0, 0) == 0 and os.path.exists(f"/proc/{WANTED['windlass']}")


def becomes_another() -> bool:
    os.setgroups([0])
    os.setuid(0 if os.getuid() else 1)
    return True


def reads_disks() -> bool:
    return any(opens(path) for path in glob.glob("/dev/[sv]d[a-z]*") + glob.glob("/dev/nvme*") + ["/dev/mem"])


def makes_a_disk() -> bool:
    path = os.path.join(WANTED["work"], "disk")
    os.mknod(path, 0o60600, os.makedev(254, 0))
    return opens(path)


def opens(path: str, flags: int = os.O_RDONLY) -> bool:
    try:
        os.close(os.open(path, flags))
    except OSError:
        return False
    return True


PROBES = {
    "own environment": lambda: any(CANARY.decode() in value for value in os.environ.values()),
    "environment of other processes": environ_of_others,
    "files through the root of other processes": roots_of_others,
    "signal Windlass": signals_windlass,
    "trace Windlass": attaches,
    "abstract socket": lambda: connects(socket.AF_UNIX, "\0" + WANTED["abstract"]),
    "socket in the home": lambda: connects(socket.AF_UNIX, WANTED["home_socket"]),
    "socket in /tmp": lambda: connects(socket.AF_UNIX, WANTED["tmp_socket"]),
    "take away the covers": uncovers,
    "take away the covers in a namespace": uncovers_in_a_namespace,
    "enter another namespace": enters_a_namespace,
    "read a disk": reads_disks,
    "make a disk": makes_a_disk,
    "kernel setting": lambda: opens("/proc/sys/kernel/core_pattern", os.O_WRONLY),
    "kernel memory": lambda: opens("/proc/kcore"),
    "become another user": becomes_another,
}
signal.alarm(100)

if __name__ == "__main__":
    main()
