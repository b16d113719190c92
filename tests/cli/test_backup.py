"""A backup of a folder in which things go on."""

import os
import re
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Commands
from tests.proof.figures import note
from windlass.config import load

HALF_WRITTEN = ("secrets.new", ".token.123", ".sessions.123", ".tokens.123")


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


def test_f1_no_half_written_secret_is_packed(home: Path, tmp_path: Path) -> None:
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


SETTINGS = (Path(__file__).parent / "settings_with_keys.toml").read_text()


@pytest.fixture
def with_keys(home: Path) -> Path:
    (home / "my-key").write_text("CANARY-key-file")
    (home / "windlass.toml").write_text(SETTINGS.replace("KEY_FILE", str(home / "my-key")))
    for name in ("windlass.toml.bak", "windlass.toml~", ".windlass.toml.swp", ".env"):
        (home / name).write_text("CANARY-copy")
    (home / "notes").mkdir(exist_ok=True)
    (home / "notes" / "mine.md").write_text("KEPT")
    return home


def packed_files(file: Path) -> dict[str, bytes]:
    with tarfile.open(file) as packed:
        return {one.name: packed.extractfile(one).read() for one in packed if one.isfile()}  # type: ignore[union-attr]


def test_f1_keys_written_in_the_settings_are_left_out_and_named(with_keys: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    done = Commands(with_keys)("backup", str(file), OPENAI_API_KEY="k", KEPT_NAME="v")
    assert done.code == 0, done.err
    found = packed_files(file)
    assert [name for name, body in found.items() if b"CANARY" in body] == []
    assert found["notes/mine.md"] == b"KEPT" and not {"my-key", ".env"} & set(found)
    named = done.err + done.out
    assert "CANARY" not in named and "comments" in named
    note("backup", count=sum(file.read_bytes().count(b"CANARY") for file in with_keys.iterdir() if file.is_file()))
    for path in (
        "provider.api_key",
        "providers[0].api_key",
        "servers.inline.env.TOKEN",
        "servers.dotted.url",
        "servers.dotted.headers.X-Key",
        "servers.args.args[3]",
        "servers.args.args[8]",
        "web_search.brave_key",
        "my-key",
        "windlass.toml.bak",
    ):
        assert path in named, path
    assert "providers[1].api_key" not in named and "inline.env.OTHER" not in named


def test_what_is_left_of_the_settings_says_the_same_as_before(with_keys: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    Commands(with_keys)("backup", str(file), OPENAI_API_KEY="k", KEPT_NAME="v")
    text = packed_files(file)["windlass.toml"].decode()
    before, after = tomllib.loads((with_keys / "windlass.toml").read_text()), tomllib.loads(text)
    assert re.findall(r"KEPT[\w.-]*", str(before)) == re.findall(r"KEPT[\w.-]*", str(after))
    assert after["servers"]["args"]["args"][-3:] == before["servers"]["args"]["args"][-3:]
    assert after["providers"][1:] == before["providers"][1:]
    assert after["servers"]["inline"]["env"] == {"OTHER": "env:KEPT_NAME"}
    assert list(after["servers"]) == list(before["servers"]) and after["policy"] == before["policy"]
    odd = 'odd "name" \x7f'
    assert after["servers"][odd]["tools"] == before["servers"][odd]["tools"]
    assert "# api_key was left out" in text


def test_a_folder_restored_without_its_keys_opens(with_keys: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    Commands(with_keys)("backup", str(file), OPENAI_API_KEY="k", KEPT_NAME="v")
    restored = tmp_path / "restored"
    with tarfile.open(file) as packed:
        packed.extractall(restored, filter="data")
    found = load(env={"WINDLASS_HOME": str(restored), "OPENAI_API_KEY": "k"})
    assert [provider.api_key for provider in found.providers[-4:]] == ["", "", "k", "CANARY-key-file"]
    assert (restored / "windlass.toml").stat().st_mode & 0o077 == 0


def test_with_secrets_the_settings_are_packed_as_they_are(with_keys: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    done = Commands(with_keys)("backup", "--secrets", str(file), OPENAI_API_KEY="k", KEPT_NAME="v")
    assert done.code == 0 and "eft out" not in done.err
    found = packed_files(file)
    assert found["windlass.toml"] == (with_keys / "windlass.toml").read_bytes()
    assert found["my-key"] == b"CANARY-key-file"


def test_settings_without_keys_are_packed_as_they_are_but_for_comments(home: Path, tmp_path: Path) -> None:
    (home / "windlass.toml").write_text("port = 8421\n\n[limits]\nrounds = 3\n")
    done = Commands(home)("backup", str(tmp_path / "backup.tar.gz"))
    assert packed_files(tmp_path / "backup.tar.gz")["windlass.toml"] == (home / "windlass.toml").read_bytes()
    assert "eft out" not in done.err


@pytest.mark.parametrize("content", [b"api_key = CANARY", b"\xff CANARY"])
def test_f1_settings_that_cannot_be_read_are_left_out_whole(home: Path, tmp_path: Path, content: bytes) -> None:
    (home / "windlass.toml").write_bytes(content)
    other = tmp_path / "other.toml"
    other.touch()
    done = Commands(home)("--config", str(other), "backup", str(tmp_path / "backup.tar.gz"))
    assert done.code == 0 and "windlass.toml" in done.err
    assert "windlass.toml" not in packed_files(tmp_path / "backup.tar.gz")


def test_f1_settings_behind_a_link_leak_nothing_either(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "real.toml"
    real.write_text('[provider]\napi_key = "CANARY-linked"\n')
    os.symlink(real, home / "windlass.toml")
    assert Commands(home)("backup", str(tmp_path / "backup.tar.gz")).code == 0
    assert b"CANARY" not in packed_files(tmp_path / "backup.tar.gz")["windlass.toml"]
