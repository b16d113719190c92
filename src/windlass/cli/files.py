"""Files of results, saved on this machine."""

import mimetypes
import re
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path

from windlass.api import schemas
from windlass.core.errors import BadInput

MOST_TRIED = 1000
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")
_ENDING = re.compile(r"\.[a-z0-9]{1,8}")


def saved_files(folder: Path, tool: str, files: Sequence[schemas.ResultFile]) -> list[Path]:
    """Named after the tool: what a server calls its files is its own affair. No file that is there is written over."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_save(folder, tool, file) for file in files if isinstance(file.data, str)]
    except OSError as error:
        raise BadInput(f"The files cannot be saved in {folder}: {error.strerror or error}.") from None


def _save(folder: Path, tool: str, file: schemas.ResultFile) -> Path:
    stem = _NOT_IN_NAMES.sub("-", tool)[:80] or "file"
    for number in range(1, MOST_TRIED):
        path = folder / f"{stem}-{number}{_ending(file)}"
        try:
            with path.open("xb") as out:
                out.write(b64decode(file.data or ""))
            return path
        except FileExistsError:
            continue
    raise BadInput(f"{folder} has {MOST_TRIED} files of {stem} already.", hint="Choose another folder.")


def _ending(file: schemas.ResultFile) -> str:
    own = Path(file.name).suffix.lower()
    return mimetypes.guess_extension(file.mime) or (own if _ENDING.fullmatch(own) else ".bin")
