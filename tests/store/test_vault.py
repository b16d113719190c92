"""The file of secrets: read whole, or refused with the next step."""

from pathlib import Path

import pytest

from tests.cli.conftest import Commands
from windlass.core.errors import Unavailable
from windlass.store.vault import Vault

TORN = {
    "truncated": b'{"provider/prov-1": "sk-the-secr',
    "empty": b"",
    "zeros": bytes(64),
    "not text": b"\xff\xfe\x00sk-the-secret",
    "a list": b'["sk-the-secret"]',
    "not a secret": b'{"provider/prov-1": {"key": "sk-the-secret"}}',
}


@pytest.mark.parametrize("content", TORN.values(), ids=TORN)
def test_a_torn_file_is_named_with_the_next_step_and_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "secrets.json"
    file.write_bytes(content)
    with pytest.raises(Unavailable) as torn:
        Vault(file)
    shown = torn.value.message + torn.value.hint
    assert str(file) in torn.value.message and torn.value.code == "file_damaged"
    assert "backup" in shown and "enter the keys again" in shown and "sk-the" not in shown
    assert file.read_bytes() == content


def test_a_file_that_cannot_be_read_is_named_too(tmp_path: Path) -> None:
    (tmp_path / "secrets.json").mkdir()
    with pytest.raises(Unavailable, match=r"secrets\.json cannot be read"):
        Vault(tmp_path / "secrets.json")


def test_a_file_that_was_kept_is_read_again(tmp_path: Path) -> None:
    reference = Vault(tmp_path / "secrets.json").put("provider/prov-1", "sk-1")
    assert Vault(tmp_path / "secrets.json").reveal(reference) == "sk-1"


@pytest.mark.parametrize("command", [("conversations", "list"), ("ask", "hello"), ("serve", "--port", "0")])
def test_every_command_says_so_and_works_once_the_file_is_moved_away(tmp_path: Path, command: tuple[str, ...]) -> None:
    windlass = Commands(tmp_path / "home")
    assert windlass("conversations", "list").code == 0
    file = tmp_path / "home" / "secrets.json"
    file.write_bytes(TORN["truncated"])
    done = windlass(*command)
    assert (done.code, done.out) == (1, "") and str(file) in done.err and "hint: " in done.err
    assert "defect" not in done.err and file.read_bytes() == TORN["truncated"]
    file.rename(file.with_suffix(".damaged"))
    assert windlass("conversations", "list").code == 0
