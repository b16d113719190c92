"""Every code, status and exception: what it is called, whether it can heal, how long to wait, what a person reads."""

import asyncio
import json
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import aiohttp
import pytest

from tests.kit.ports import refusing_port
from tests.providers.kit import Recorder, ask, chat_with, raw_server
from windlass.core.errors import ModelError
from windlass.providers.failures import Patience, asked_wait, exception_failure, http_failure, shown, stream_failure
from windlass.testing import StrictLLM, error, raw_chunks

# code, HTTP status it comes with, cause, healable, words
ZAI_CODES = [
    *((str(code), 401, "auth", False, "rejected the API key") for code in range(1000, 1005)),
    ("1100", 500, "server_error", True, "an internal error"),
    ("1110", 429, "account", False, "locked or not active"),
    ("1111", 429, "account", False, "locked or not active"),
    ("1112", 429, "account", False, "locked or not active"),
    ("1113", 429, "quota", False, "is in arrears, or this key belongs to the other Z.AI plan's endpoint"),
    ("1120", 429, "account", False, "locked or not active"),
    ("1121", 429, "account", False, "locked or not active"),
    ("1200", 500, "server_error", True, "an internal error"),
    *((str(code), 400, "bad_request", False, "refused the request") for code in (1210, 1212, 1213, 1214, 1215)),
    ("1211", 400, "unknown_model", False, "does not know the model"),
    ("1220", 403, "forbidden", False, "does not let this key use"),
    ("1221", 400, "unknown_model", False, "does not know the model"),
    ("1222", 404, "bad_request", False, "refused the request"),
    ("1230", 500, "bad_request", False, "refused the request"),
    ("1231", 400, "bad_request", False, "refused the request"),
    ("1234", 500, "server_error", True, "an internal error"),
    ("1261", 400, "context_overflow", True, "too long for"),
    ("1300", 400, "content_filter", False, "content filter"),
    ("1301", 400, "content_filter", False, "content filter"),
    *((str(code), 429, "rate_limited", True, "is limiting requests") for code in (1302, 1303, 1305)),
    *((str(code), 429, "quota", False, "is used up") for code in (1304, 1308, 1309, 1310)),
    ("1312", 429, "overloaded", True, "overloaded"),
    ("1313", 429, "quota", False, "fair-use"),
]
NAMED_CODES = [
    ("invalid_api_key", 401, "auth", False),
    ("insufficient_quota", 429, "quota", False),
    ("billing_hard_limit_reached", 400, "quota", False),
    ("model_not_found", 404, "unknown_model", False),
    ("context_length_exceeded", 400, "context_overflow", True),
    ("content_policy_violation", 400, "content_filter", False),
    ("content_filter", 400, "content_filter", False),
    ("data_inspection_failed", 400, "content_filter", False),
    ("rate_limit_exceeded", 429, "rate_limited", True),
    ("server_error", 500, "server_error", True),
]
STATUSES = [
    (400, "bad_request", False),
    (401, "auth", False),
    (402, "quota", False),
    (403, "forbidden", False),
    (404, "not_found", False),
    (405, "not_found", False),
    (408, "timeout", True),
    (409, "bad_request", False),
    (413, "context_overflow", True),
    (415, "bad_request", False),
    (422, "bad_request", False),
    (425, "overloaded", True),
    (429, "rate_limited", True),
    (500, "server_error", True),
    (501, "server_error", True),
    (502, "server_error", True),
    (503, "overloaded", True),
    (504, "timeout", True),
    (520, "server_error", True),
    (529, "overloaded", True),
]


@pytest.mark.parametrize(("code", "status", "cause", "heals", "words"), ZAI_CODES)
def test_a_code_of_zai(code: str, status: int, cause: str, heals: bool, words: str) -> None:
    body = json.dumps({"error": {"code": code, "message": "its own words"}}).encode()
    for raised, where in (
        (http_failure(status, {}, body, 3), f"HTTP {status}, code {code}: "),
        (stream_failure(json.loads(body)["error"], 3, "so far"), f"code {code}: "),
    ):
        assert (raised.code, raised.retryable) == (cause, heals)
        statement, _, details = raised.message.partition(". ")
        assert words in statement
        assert details == f"{where}its own words."
        assert raised.hint
        assert raised.wait_s == (3 if heals and cause != "context_overflow" else 0)


@pytest.mark.parametrize(("code", "status", "cause", "heals"), NAMED_CODES)
def test_a_code_in_words(code: str, status: int, cause: str, heals: bool) -> None:
    raised = http_failure(status, {}, json.dumps({"error": {"code": code, "message": "m"}}).encode(), 1)
    assert (raised.code, raised.retryable, raised.status) == (cause, heals, status)


@pytest.mark.parametrize(("status", "cause", "heals"), STATUSES)
@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{}", b"<html><h1>Sorry</h1></html>", b'{"error":"no"}', b"\xff"]
)
def test_a_status_without_a_code(status: int, cause: str, heals: bool, body: bytes) -> None:
    raised = http_failure(status, {}, body, 2)
    assert (raised.code, raised.retryable, raised.status) == (cause, heals, status)
    assert f"HTTP {status}" in raised.message
    assert raised.hint


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed_with_the_key(status: int) -> None:
    async with StrictLLM([error(status, None, "", {"Location": "http://127.0.0.1:9/v1"})]) as llm:
        async with chat_with(llm.base_url) as chat:
            with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:9/v1") as caught:
                await chat.reply(ask(), Recorder())
    assert (caught.value.code, caught.value.retryable) == ("redirected", False)


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "the request exceeds the available context size. try increasing the context size",
        "prompt is too long: 213462 tokens > 200000 maximum",
        "Input is too long for requested model",
        "Please reduce the length of the messages or completion",
    ],
)
def test_an_overflow_is_known_by_its_words(said: str) -> None:
    raised = http_failure(400, {}, json.dumps({"error": {"message": said}}).encode(), 9)
    assert (raised.code, raised.retryable, raised.wait_s) == ("context_overflow", True, 0)


def test_an_unknown_model_is_told_from_a_wrong_address() -> None:
    said = b'{"error":{"message":"model \\"llama9\\" not found, try pulling it first"}}'
    assert http_failure(404, {}, said, 0).code == "unknown_model"
    assert http_failure(404, {}, b"404 page not found", 0).code == "not_found"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After-Ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "1.2.3"}, None),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
        ({}, None),
    ],
)
def test_the_wait_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(headers) == seconds


def test_the_wait_may_be_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    asked = asked_wait({"Retry-After": date})
    assert asked and 3000 < asked <= 3600


@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_is_honoured_and_never_cut_short(status: int) -> None:
    raised = http_failure(status, {"Retry-After": "30"}, b"", backoff_s=2)
    assert raised.retryable
    assert 30 <= raised.wait_s <= 31


def test_a_wait_that_is_too_long_is_not_waited_for_but_told() -> None:
    raised = http_failure(429, {"Retry-After": "121"}, b"", 2)
    assert (raised.retryable, raised.wait_s) == (False, 0)
    assert "wait 121 s, until 2" in raised.message
    assert "UTC" in raised.hint
    assert http_failure(429, {"Retry-After": "120"}, b"", 2).retryable


def test_no_wait_is_given_for_what_cannot_heal() -> None:
    assert http_failure(401, {"Retry-After": "5"}, b"", 2).wait_s == 0


def test_the_backoff_is_anywhere_below_a_bound_that_doubles() -> None:
    patience = Patience(backoff_s=1, backoff_cap_s=30)
    assert [patience.backoff(attempt, lambda: 1.0) for attempt in (1, 2, 3, 4, 5, 6, 7)] == [1, 2, 4, 8, 16, 30, 30]
    assert patience.backoff(3, lambda: 0.25) == 1
    assert patience.backoff(10_000, lambda: 0.0) == 0


def test_a_page_is_shown_in_its_first_300_characters_on_one_line() -> None:
    raised = http_failure(502, {}, b"<html>\n<title>Bad gateway</title>" + b"x" * 10_000, 0)
    assert raised.code == "server_error"
    assert "<html> <title>Bad gateway</title>xxx" in raised.message
    assert len(raised.message) < 400


def test_keys_are_not_shown() -> None:
    assert shown("Incorrect API key provided: sk-abcd****wxyz.") == "Incorrect API key provided: [key]"


@pytest.mark.parametrize(
    ("error", "cause", "heals", "words"),
    [
        (TimeoutError(), "timeout", True, "Timeout at"),
        (aiohttp.InvalidURL("x"), "bad_address", False, "address"),
        (ValueError("Newline in header"), "bad_address", False, "address or key"),
        (ssl.SSLError("handshake"), "tls", True, "secure connection"),
        (ssl.SSLCertVerificationError("self-signed"), "tls", False, "not trusted"),
        (aiohttp.ServerDisconnectedError(), "interrupted", True, "broke off"),
        (ConnectionResetError("reset"), "interrupted", True, "broke off"),
        (aiohttp.ClientPayloadError("cut"), "interrupted", True, "broke off"),
    ],
)
def test_an_exception_of_the_client(error: Exception, cause: str, heals: bool, words: str) -> None:
    raised = exception_failure(error, 2, "so far")
    assert (raised.code, raised.retryable, raised.partial) == (cause, heals, "so far")
    assert words in raised.message
    assert raised.wait_s == (2 if heals else 0)


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    with refusing_port() as port:
        async with chat_with(f"http://127.0.0.1:{port}/v1") as chat:
            with pytest.raises(ModelError) as caught:
                await chat.reply(ask(), Recorder())
    assert (caught.value.code, caught.value.retryable) == ("unreachable", True)


async def test_a_host_without_an_address_is_unreachable() -> None:
    async with chat_with("http://no-such-host.invalid/v1") as chat:
        with pytest.raises(ModelError) as caught:
            await chat.reply(ask(), Recorder())
    assert (caught.value.code, caught.value.retryable) == ("unreachable", True)


@pytest.mark.parametrize("base_url", ["", "localhost:1234/v1", "ftp://host/v1", "http://[/v1", "http:///v1"])
async def test_an_address_that_is_none_is_said_at_once(base_url: str) -> None:
    with pytest.raises(ModelError) as caught:
        async with chat_with(base_url):
            pass
    assert (caught.value.code, caught.value.retryable) == ("bad_address", False)


async def test_a_key_of_two_lines_is_no_crash() -> None:
    async with StrictLLM() as llm, chat_with(llm.base_url, api_key="one\r\ntwo: three") as chat:
        with pytest.raises(ModelError) as caught:
            await chat.reply(ask(), Recorder())
    assert caught.value.code == "bad_address"
    assert "three" not in caught.value.message


async def test_an_error_in_several_pieces_is_read_to_its_end() -> None:
    body = b'{"error":{"code":"1113","message":"no money"}}'
    script = [raw_chunks(body[:10], body[10:30], body[30:], status=429, content_type="application/json")]
    async with StrictLLM(script) as llm, chat_with(llm.base_url) as chat:
        with pytest.raises(ModelError, match="no money") as caught:
            await chat.reply(ask(), Recorder())
    assert caught.value.code == "quota"


async def test_what_is_no_http_is_an_invalid_reply() -> None:
    async def gibberish(writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")

    async with raw_server(gibberish) as base_url, chat_with(base_url) as chat:
        with pytest.raises(ModelError) as caught:
            await chat.reply(ask(), Recorder())
    assert (caught.value.code, caught.value.retryable) == ("invalid_reply", True)


@pytest.mark.parametrize(
    ("status", "cause"), [(429, "rate_limited"), (500, "server_error"), (401, "auth"), (529, "overloaded")]
)
async def test_the_cause_survives_the_wire(status: int, cause: str) -> None:
    async with StrictLLM([error(status, None, "words of the server")]) as llm, chat_with(llm.base_url) as chat:
        with pytest.raises(ModelError, match="words of the server") as caught:
            await chat.reply(ask(), Recorder())
    assert (caught.value.code, caught.value.status) == (cause, status)
