"""The redactor: every spelling of a known value, and nothing else."""

import base64
import json
from urllib.parse import quote

import pytest

from windlass.store.redaction import LONG, Redactor, secrets_among

VALUE = 'k3y/with "quotes"+ünd?&=1234'


def redactor(*values: str) -> Redactor:
    made = Redactor()
    made.learn((f"NAME{n}", value) for n, value in enumerate(values))
    return made


SPELLINGS = {
    "plain": VALUE,
    "json": json.dumps(VALUE)[1:-1],
    "json utf-8": json.dumps(VALUE, ensure_ascii=False)[1:-1],
    "url": quote(VALUE, safe=""),
    "url path": quote(VALUE),
    "url lower case": quote(VALUE, safe="").lower().replace("k3y", "k3y"),
    "base64": base64.b64encode(VALUE.encode()).decode(),
    "base64 within": base64.b64encode(f"user:{VALUE}".encode()).decode(),
    "base64 further within": base64.b64encode(f"users:{VALUE}!".encode()).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(f"uses:{VALUE}".encode()).decode(),
}


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS)
def test_f5_a_value_is_found_in_every_spelling(spelled: str) -> None:
    known = redactor(VALUE)
    assert "[secret NAME0]" in known.text(f"before {spelled} after")
    assert b"[secret NAME0]" in known.body(f"before {spelled} after".encode())


def test_text_without_secrets_is_the_same_object() -> None:
    text = "nothing to see"
    assert redactor(VALUE).text(text) is text


def test_short_values_are_left_alone() -> None:
    assert redactor("secret1").text("a secret1 stays") == "a secret1 stays"


def test_a_longer_value_goes_before_its_own_part() -> None:
    assert redactor("abcdefgh", "abcdefgh-and-more").text("x abcdefgh-and-more") == "x [secret NAME1]"


def test_a_replaced_value_is_still_known() -> None:
    known = redactor("the-old-value")
    known.learn([("NAME", "the-new-value")])
    assert known.text("the-old-value the-new-value") == "[secret NAME0] [secret NAME]"


@pytest.mark.parametrize("at", [LONG, (1 << 20) - 5, (2 << 20) - 1, (3 << 20) - len("a-secret-value")])
async def test_f5_a_value_across_the_border_of_two_pieces_is_found(at: int) -> None:
    text = "x" * at + "a-secret-value" + "y" * ((3 << 20) - at - len("a-secret-value"))
    known = redactor("a-secret-value")
    assert "a-secret" not in await known.long_text(text + "\ud800")
    assert b"a-secret" not in await known.long_body(text.encode())


def test_of_a_servers_settings_only_secrets_count() -> None:
    env = {
        "API_KEY": "key-value-1",
        "GITHUB_PAT": "pat-value-1",
        "ROOT": "/home/ada/docs",
        "LOG_PATH": "/var/log/x.log",
        "DATABASE_URL": "postgres://ada:hunter2hunter2@db/x",
    }
    headers = {"Authorization": "Bearer tok-12345678", "X-Api-Key": "xkey-1234", "Accept": "application/json"}
    assert {value for _, value in secrets_among(env.items(), headers.items())} == {
        *("key-value-1", "pat-value-1", "hunter2hunter2", "Bearer tok-12345678", "tok-12345678", "xkey-1234"),
    }
