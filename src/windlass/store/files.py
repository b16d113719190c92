"""The files of the data folder: readable by their owner alone, and what a failed write means."""

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from windlass.core.errors import DiskFull, Unavailable

KEY_BYTES = 32
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
SPACE = bytes(64 * 1024)  # more than the journal takes for a few rows


def make_private(path: Path) -> None:
    """Create the file if it is not there. Its mode is set here, since a process-wide umask would also change the files
    that tool servers write. SQLite gives a journal the mode of its database."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        close_to_others(file)


def private_folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    close_to_others(path)


def private_key(path: Path) -> bytes:
    """The random key in this file, made once. Whoever lost the file gets a new key: old prompts change, and no more."""
    with suppress(OSError):
        close_to_others(path)
        if len(kept := path.read_bytes()) == KEY_BYTES:
            return kept
    key = os.urandom(KEY_BYTES)
    fresh = path.with_suffix(".new")
    try:
        with os.fdopen(
            os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600), "wb"
        ) as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise unavailable(error) from None
    return key


def close_to_others(path: Path) -> None:
    with suppress(OSError):  # not there, another user's, or a file system without modes: `windlass doctor` looks
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            path.chmod(mode & 0o700)


def check_space(folder: Path) -> None:
    """Raise unless something new can be written: a journal that is written over needs no space, so a commit that works
    does not show it."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(SPACE)
    except OSError as error:
        raise unavailable(error) from None


def unavailable(error: Exception) -> Unavailable:
    kind = DiskFull if _is_full(error) else Unavailable
    return kind(f"Nothing could be written: {error}.", hint=_hint(error), code="store_unavailable")


def _is_full(error: Exception) -> bool:
    return getattr(error, "errno", None) in FULL or "full" in str(error) or "No space" in str(error)


def _hint(error: Exception) -> str:
    if _is_full(error):
        return "The disk is full. Free some space; turns then continue by themselves."
    if "locked" in str(error):
        return "Another program holds the database. Close it and try again."
    return "Check that the data folder is there and writable."
