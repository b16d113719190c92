"""`windlass backup`."""

import io
import re
import sqlite3
import tarfile
import tempfile
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from windlass.cli.clean_settings import Cleaned, without_secrets
from windlass.cli.local_server import settings
from windlass.cli.options import options_of
from windlass.cli.output import note
from windlass.core.errors import BadInput, NotFound

LEFT_OUT = {
    "windlass.db",
    "windlass.db-wal",
    "windlass.db-shm",
    "lock",
    "server.json",
    "token",
    "sessions",
    "tokens",
    "fence.key",
}
REMADE = re.compile(r"servers/[^/]+/(cache|tmp)")  # by the server itself, from package registries
HALF_WRITTEN = (".token.", ".sessions.", ".tokens.", "secrets.new", "server.new", "fence.new")
SETTINGS = "windlass.toml"


def backup(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="File to write, such as windlass-backup.tar.gz.")],
    secrets: Annotated[bool, typer.Option("--secrets", help="Include keys; keep the file safe.")] = False,
) -> None:
    """Copy all data to one file, even while the server runs. To restore, unpack it into an empty data folder."""
    home = settings(options_of(ctx)).home
    if not (home / "windlass.db").exists():
        raise NotFound(
            f"There is nothing to back up in {home}.", hint="Set WINDLASS_HOME to the data folder of the server."
        )
    if file.exists():
        raise BadInput(f"{file} already exists.", hint="Choose another name; a backup never overwrites a file.")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "windlass.db"
        _copy(home / "windlass.db", copy)
        try:
            left_out = _pack(home, copy, file, secrets)
        except OSError as error:
            hint = "Choose a folder that exists and has space."
            raise BadInput(f"{file} cannot be written: {error.strerror}.", hint=hint) from None
    note(f"{file}: {file.stat().st_size / 1e6:.1f} MB{'' if secrets else ', without keys'}", "")
    if left_out:
        note(f"Left out: {', '.join(left_out)}. Back these up separately, or use --secrets.", "")


def _copy(source: Path, target: Path) -> None:
    """A consistent snapshot, even while the server writes."""
    reading, writing = sqlite3.connect(f"file:{source}?mode=ro", uri=True), sqlite3.connect(target)
    with reading, writing:
        reading.backup(writing)
    reading.close()
    writing.close()


def _pack(home: Path, copy: Path, file: Path, secrets: bool) -> list[str]:
    """Gives the names left out because they are, or may hold, a key."""
    part = file.with_name(file.name + ".part")
    try:
        with tarfile.open(part, "w:gz") as packed:
            packed.add(copy, "windlass.db")
            left_out = _add_all(packed, home) if secrets else _add_without_keys(packed, home)
        part.chmod(0o600)
        part.rename(file)
    finally:
        part.unlink(missing_ok=True)
    return left_out


def _add_all(packed: tarfile.TarFile, home: Path) -> list[str]:
    for path in _inside(home):
        _add(packed, path, path.name, frozenset())
    return []


def _add_without_keys(packed: tarfile.TarFile, home: Path) -> list[str]:
    settings, left_out = _clean_settings(home / SETTINGS)
    key_files = settings.key_files if settings else frozenset()
    for path in _inside(home):
        if path.name == SETTINGS:
            if settings:
                _add_text(packed, path, settings.text)
        elif path.name == "secrets.json" or SETTINGS in path.name or path.name.startswith(".env"):
            left_out.append(path.name)
        else:
            left_out += _add(packed, path, path.name, key_files)
    return left_out


def _clean_settings(file: Path) -> tuple[Cleaned | None, list[str]]:
    """None without a file, and for one that cannot be parsed: its keys cannot be found."""
    try:
        cleaned = without_secrets(file.read_text("utf-8"))
    except FileNotFoundError:
        return None, []
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None, [f"{SETTINGS}, which cannot be read"]
    return cleaned, [f"{name} of {SETTINGS}" if name == "comments" else name for name in cleaned.left_out]


def _inside(home: Path) -> list[Path]:
    return [
        path for path in sorted(home.iterdir()) if path.name not in LEFT_OUT and not path.name.startswith(HALF_WRITTEN)
    ]


def _add_text(packed: tarfile.TarFile, path: Path, text: str) -> None:
    body = text.encode()
    entry = tarfile.TarInfo(path.name)
    entry.size, entry.mode, entry.mtime = len(body), 0o600, path.stat().st_mtime
    packed.addfile(entry, io.BytesIO(body))


def _add(packed: tarfile.TarFile, path: Path, name: str, key_files: frozenset[Path]) -> list[str]:
    """A file deleted meanwhile is left out without an error. Gives the key files it skipped."""
    if REMADE.fullmatch(name) or _leads_out(path):
        return []
    if key_files and path.resolve() in key_files:
        return [name]
    found: list[str] = []
    with suppress(FileNotFoundError):
        packed.add(path, name, recursive=False)
        if path.is_dir() and not path.is_symlink():
            for inside in sorted(path.iterdir()):
                found += _add(packed, inside, f"{name}/{inside.name}", key_files)
    return found


def _leads_out(path: Path) -> bool:
    """Windlass links what isolated servers may read of the person's home; their next start makes these anew."""
    return path.is_symlink() and path.readlink().is_absolute()
