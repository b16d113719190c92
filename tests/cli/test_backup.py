"""A backup of a folder in which things go on."""

import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Commands

HALF_WRITTEN = ("secrets.new", ".token.123", ".sessions.123")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    assert Commands(home)("conversations", "list").code == 0
    return home


def test_what_is_deleted_meanwhile_is_left_out(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / "blobs" / "conv-1"
    folder.mkdir(parents=True)
    for name in ("result-1", "result-2"):
        (folder / name).write_text(name)
    look = tarfile.TarFile.gettarinfo

    def looked_at(packed: tarfile.TarFile, name: Any = None, *rest: Any, **more: Any) -> Any:
        if str(name).endswith("result-1"):
            (folder / "result-1").unlink()
        return look(packed, name, *rest, **more)

    monkeypatch.setattr(tarfile.TarFile, "gettarinfo", looked_at)
    done = Commands(home)("backup", str(tmp_path / "backup.tar.gz"))
    assert done.code == 0, done.err
    with tarfile.open(tmp_path / "backup.tar.gz") as packed:
        assert {"windlass.db", "blobs/conv-1/result-2"} <= set(packed.getnames())


def test_no_half_written_secret_is_packed(home: Path, tmp_path: Path) -> None:
    for name in HALF_WRITTEN:
        (home / name).write_text("a-secret")
    assert Commands(home)("backup", str(tmp_path / "backup.tar.gz")).code == 0
    with tarfile.open(tmp_path / "backup.tar.gz") as packed:
        assert not set(HALF_WRITTEN) & set(packed.getnames())


def test_a_backup_that_fails_leaves_no_part_of_itself(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "addfile", full)
    done = Commands(home)("backup", str(tmp_path / "backup.tar.gz"))
    assert done.code == 1 and "No space left" in done.err
    assert list(tmp_path.glob("backup*")) == []
