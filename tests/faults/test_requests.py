"""Requests that no honest client sends: bad bodies, ids, queries, headers and bytes on every route. Never a 5xx, and
never a crash."""

import asyncio
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.proof.figures import FULL, note
from tests.web.kit import TOKEN, Site, open_site
from windlass.api.routes import ROUTES
from windlass.testing import StrictLLM, say

COUNT = 20_000 if FULL else 400
GARBAGE = 2_000 if FULL else 50
SEED = 5
NOT_TRIED = {"access_rotate", "access_log_in"}  # they would end the test's own access


@pytest.mark.timeout(900)
async def test_bad_requests_never_give_a_5xx(tmp_path: Path) -> None:
    """Every route with random bodies, path parts and queries."""
    rng = random.Random(SEED)
    routes = [route for route in ROUTES if route.kind != "events" and route.operation not in NOT_TRIED]
    async with StrictLLM(lambda request: say("Hi.")) as llm, open_site(tmp_path, llm, durability="normal") as site:
        known = await _known(site)
        for number in range(COUNT):
            route = routes[number % len(routes)]
            path = re.sub(r"{\w+}", lambda part: _piece(rng, known), route.path) + _query(rng)
            body = None if route.method == "GET" else _body(rng, known)
            reply = await site.call(route.method, path, raw=body)
            seen = (
                f"seed {SEED}, request {number}: {route.method} {path} {body!r} gave {reply.status} {reply.text[:300]}"
            )
            assert reply.status < 500, seen
            assert "Traceback" not in reply.text, seen
        assert (await site.call("GET", "/health")).status == 200
    note("bad inputs", count=COUNT, seed=SEED)


async def _known(site: Site) -> list[str]:
    conversation = await site.conversation()
    turn = await site.post(f"/conversations/{conversation}/chat", {"content": "Hello"})
    return [conversation, turn["turn_id"], turn["user_message"]["id"], "strict", "assistant"]


ODD: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        1e308,
        2**63,
        2**200,
        "",
        " ",
        "\x00",
        "a" * 5000,
        "\ud7ff",
        "🜁",
        "../../etc/passwd",
    ),
    *("' or 1=1 --", "{{7*7}}", "${HOME}", "<script>", "-1", "NaN", [], {}, [[]], [None] * 50, {"": {}}),
]


def _piece(rng: random.Random, known: list[str]) -> str:
    odd = ["x", "%00", "..%2f..", "%ff%fe", "a" * 300, "%F0%9F%9C%81", "-", "0", "null", "turn-", "conv-"]
    return rng.choice([*known, *odd])


def _query(rng: random.Random) -> str:
    names = [
        "limit",
        "cursor",
        "q",
        "wait",
        "request",
        "offset",
        "length",
        "format",
        "head",
        "server_id",
        "tool_name",
        "x",
    ]
    values = ["0", "-1", "1", "999999999999999999999", "x", "", "%00", "markdown", "json", "1e9", "%F0%9F%9C%81", "nan"]
    if rng.random() < 0.5:
        return ""
    return "?" + "&".join(f"{rng.choice(names)}={rng.choice(values)}" for _ in range(rng.randint(1, 3)))


FIELDS = (
    "title content role name slug transport command args env cwd url headers trusted timeout_s model temperature "
    "max_tokens max_messages system_prompt persona web_search max_rounds client_message_id parent_turn_id tool_calls "
    "tool_call_id server_id tool_name approval decision scope arguments reason hash as action argv mcpServers messages "
    "rules base_url api_key kind rounds descriptive_name related_keywords related_files format conversation turns"
).split()


def _body(rng: random.Random, known: list[str]) -> bytes:
    if rng.random() < 0.15:
        return rng.choice(
            [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":1}{"b":2}', b"[" * 5000, b'"x"', b"1e999", b"{}"]
        )
    body = {rng.choice(FIELDS): _value(rng, known) for _ in range(rng.randint(0, 6))}
    body.pop("wait", None)
    return json.dumps(body).encode()


def _value(rng: random.Random, known: list[str], depth: int = 0) -> Any:
    if depth < 3 and rng.random() < 0.2:
        return {rng.choice(FIELDS): _value(rng, known, depth + 1) for _ in range(rng.randint(0, 3))}
    if depth < 3 and rng.random() < 0.2:
        return [_value(rng, known, depth + 1) for _ in range(rng.randint(0, 3))]
    good = ["allow", "deny", "retry", "skip", "on", "off", "ask", "auto", "stdio", "http", "user", "assistant", "tool"]
    return rng.choice([*ODD, *good, *known])


async def test_garbage_on_the_socket_is_survived(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    async with open_site(tmp_path, durability="normal") as site:
        for number in range(GARBAGE):
            answer = await _raw(site.port, _garbage(rng, site.port))
            status = re.match(rb"HTTP/1\.1 (\d)", answer)
            assert status is None or status[1] in b"1234", f"seed {SEED}, number {number}: {answer[:200]!r}"
        assert (await site.call("GET", "/health")).status == 200
    note("garbage requests", count=GARBAGE, seed=SEED)


async def _raw(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        writer.write_eof()
        return await asyncio.wait_for(reader.read(4096), 10)
    except (ConnectionError, TimeoutError):
        return b""
    finally:
        writer.close()


def _garbage(rng: random.Random, port: int) -> bytes:
    good = f"POST /conversations HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
    good += b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    match rng.randrange(8):
        case 0:
            return rng.randbytes(rng.randint(1, 2000))
        case 1:
            return good[: rng.randrange(len(good))]
        case 2:
            at = rng.randrange(len(good))
            return good[:at] + rng.randbytes(3) + good[at:]
        case 3:
            return good.replace(b"Content-Length: 2", b"Content-Length: " + rng.choice([b"-1", b"x", b"9" * 30, b""]))
        case 4:
            return good.replace(b"\r\n\r\n", b"\r\nX: " + b"a" * rng.choice([9000, 70_000]) + b"\r\n\r\n")
        case 5:
            return good.replace(b"HTTP/1.1", rng.choice([b"HTTP/9.9", b"HTTP/1.0", b"", b"HTTP/2.0"]))
        case 6:
            return b"GET " + b"/" * rng.choice([1, 100, 70_000]) + b" HTTP/1.1\r\n\r\n"
        case _:
            return good.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
