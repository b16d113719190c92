"""`windlass backup`."""

import sqlite3
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from windlass.cli.options import options_of
from windlass.cli.running import settings
from windlass.cli.show import note
from windlass.core.errors import BadInput, NotFound

LEFT_OUT = {"windlass.db", "windlass.db-wal", "windlass.db-shm", "lock", "server.json", "token", "sessions"}
HALF_WRITTEN = (".token.", ".sessions.", "secrets.new", "server.new")


def backup(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="Where to, such as windlass-backup.tar.gz.")],
    secrets: Annotated[bool, typer.Option("--secrets", help="Keys too; then keep the file safe.")] = False,
) -> None:
    """Copy everything to one file, also while the server runs. To restore, unpack it into an empty data folder."""
    home = settings(options_of(ctx)).home
    if not (home / "windlass.db").exists():
        raise NotFound(
            f"There is nothing to back up in {home}.", hint="Set WINDLASS_HOME to the data folder of the server."
        )
    if file.exists():
        raise BadInput(f"{file} is there already.", hint="Choose another name; a backup replaces nothing.")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "windlass.db"
        _copy(home / "windlass.db", copy)
        try:
            _pack(home, copy, file, secrets)
        except OSError as error:
            raise BadInput(f"{file} cannot be written: {error.strerror}.") from None
    note(f"{file}: {file.stat().st_size / 1e6:.1f} MB{'' if secrets else ', without keys'}", "")


def _copy(source: Path, target: Path) -> None:
    """A snapshot of one moment, whatever is being written meanwhile."""
    reading, writing = sqlite3.connect(f"file:{source}?mode=ro", uri=True), sqlite3.connect(target)
    with reading, writing:
        reading.backup(writing)
    reading.close()
    writing.close()


def _pack(home: Path, copy: Path, file: Path, secrets: bool) -> None:
    part = file.with_name(file.name + ".part")
    try:
        with tarfile.open(part, "w:gz") as packed:
            packed.add(copy, "windlass.db")
            for path in sorted(home.iterdir()):
                left_out = path.name in LEFT_OUT or path.name.startswith(HALF_WRITTEN)
                if not left_out and (secrets or path.name != "secrets.json"):
                    _add(packed, path, path.name)
        part.chmod(0o600)
        part.rename(file)
    finally:
        part.unlink(missing_ok=True)


def _add(packed: tarfile.TarFile, path: Path, name: str) -> None:
    """What goes while the folder is packed was deleted: it belongs into no backup."""
    with suppress(FileNotFoundError):
        packed.add(path, name, recursive=False)
        if path.is_dir() and not path.is_symlink():
            for inside in sorted(path.iterdir()):
                _add(packed, inside, f"{name}/{inside.name}")
