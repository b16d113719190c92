"""One Windlass per data folder. The lock is the operating system's: it goes when the process goes, in any way."""

import sys
from pathlib import Path
from typing import IO

from windlass.core.errors import Unavailable

if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_folder(folder: Path) -> IO[str]:
    """Made if need be. Hold the returned file for as long as the folder is used."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = (folder / "lock").open("a")
    except OSError as error:
        raise Unavailable(
            f"The data folder {folder} cannot be used: {error.strerror}.",
            hint="Mend its rights, or set WINDLASS_HOME to another folder.",
            code="data_folder_unusable",
        ) from None
    try:
        _take(file)
    except OSError:
        file.close()
        raise Unavailable(
            f"Another Windlass is using {folder}.",
            hint="Stop it, talk to it over HTTP, or set WINDLASS_HOME to another folder.",
            code="data_folder_in_use",
        ) from None
    return file
