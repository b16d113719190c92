"""Bad input gets the right status and a sentence that helps; nothing is stored by halves, nothing is a 500."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.web.kit import TOKEN, Site, open_site
from windlass.api.routes import ROUTES
from windlass.testing import StrictLLM, say

DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        (b"{", 400, "malformed_json"),
        (b"{'title': 1}", 400, "malformed_json"),
        (b'{"title": "\xff"}', 400, "malformed_json"),
        (b'{"title": "\\ud800"}', 400, "malformed_json"),
        (b"{} {}", 400, "malformed_json"),
        (DEEP, 422, "bad_input"),
        (b'{"title": ' + DEEP, 422, "bad_input"),
        (b"[]", 422, "bad_input"),
        (b"null", 422, "bad_input"),
        (b'{"title": 7}', 422, "bad_input"),
        (b'{"titel": "x"}', 422, "bad_input"),
        (b'{"temperature": 3}', 422, "bad_input"),
        (b'{"temperature": NaN}', 400, "malformed_json"),
        (b'{"max_tokens": 0}', 422, "bad_input"),
        (b'{"max_tokens": 99999999999999999999}', 422, "bad_input"),
        (b'{"title": "' + b"x" * 301 + b'"}', 422, "bad_input"),
    ],
)
async def test_a_body_that_cannot_be_right_is_refused_with_its_reason(
    site: Site, raw: bytes, status: int, code: str
) -> None:
    reply = await site.call("POST", "/conversations", raw=raw)

    assert (reply.status, reply.code) == (status, code)
    assert reply.body["success"] is False and reply.body["error"]["message"]
    assert (await site.get("/conversations"))["count"] == 0


async def test_the_path_of_a_wrong_field_is_told(site: Site) -> None:
    body = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "x", "arguments": {}}}]}
    conversation = await site.conversation()

    reply = await site.call("POST", f"/conversations/{conversation}/messages", body)

    assert reply.status == 422
    assert reply.body["error"]["detail"] == {"path": "tool_calls[0].function.arguments"}


async def test_unknown_ids_are_404_with_a_hint_on_every_route(site: Site) -> None:
    """With a body that is right, the only thing wrong is the id."""
    bodies: dict[str, Any] = {
        "turns_chat": {"content": "x"},
        "messages_add": {"role": "user", "content": "x"},
        "context_add": {"descriptive_name": "x", "content": "x"},
        "tools_enable": {"server_id": "x", "tool_name": "x"},
        "turns_decide": {"decision": "allow"},
        "turns_resolve": {"as": "skip"},
        "turns_answer": {"action": "cancel"},
        "servers_confirm": {"argv": ["x"]},
        "servers_call_tool": {"name": "x"},
        "servers_accept_tool": {"hash": "x"},
        "servers_correct_kind": {"kind": "reads"},
        "servers_read_resource": {"uri": "x"},
        "servers_fill_prompt": {"name": "x"},
        "servers_complete": {"prompt": "x", "argument": "x"},
    }
    wrong = []
    for route in ROUTES:
        if "{" not in route.path or route.group == "v1":  # errors of /v1 have OpenAI's form
            continue
        path = "/".join("nothing-here" if part.startswith("{") else part for part in route.path.split("/"))
        query = "?server_id=x&tool_name=x" if route.operation == "tools_disable" else ""
        body = None if route.method == "GET" else bodies.get(route.operation, {})
        reply = await site.call(route.method, path + query, body)
        if reply.status != 404 or reply.code != "not_found" or not reply.body["error"].get("hint"):
            wrong.append((route.method, route.path, reply.status, reply.text))
    assert wrong == []


async def test_ids_of_another_conversation_are_404(site: Site, strict_llm: StrictLLM) -> None:
    mine, other = await site.conversation(), await site.conversation()
    strict_llm.then(say("Hi."))
    turn = await site.post(f"/conversations/{mine}/chat", {"content": "Hello"})
    context = await site.post(f"/conversations/{mine}/context", {"descriptive_name": "a", "content": "b"})
    message = turn["user_message"]["id"]

    for method, path in [
        ("DELETE", f"/conversations/{other}/messages/{message}"),
        ("GET", f"/conversations/{other}/context/{context['context_id']}"),
        ("DELETE", f"/conversations/{other}/context/{context['context_id']}"),
        ("GET", f"/conversations/{other}/messages?head={turn['turn_id']}"),
    ]:
        assert (await site.call(method, path)).status == 404, path
    branch = {"content": "x", "parent_turn_id": turn["turn_id"]}
    assert (await site.call("POST", f"/conversations/{other}/chat", branch)).status == 404
    assert (await site.get(f"/conversations/{mine}/messages"))["count"] == 2


async def test_too_large_a_body_is_413_declared_or_not(site: Site) -> None:
    large = json.dumps({"title": "x" * (4 * 1024 * 1024)}).encode()

    async def in_chunks() -> Any:
        for start in range(0, len(large), 65536):
            yield large[start : start + 65536]

    declared = await site.call("POST", "/conversations", raw=large)
    headers = {"Authorization": "Bearer the-token-of-the-tests", "Content-Type": "application/json"}
    async with site.session.post(f"{site.url}/conversations", data=in_chunks(), headers=headers) as answer:
        chunked = answer.status
    longer = await site.call(
        "POST", "/conversations/import", {"messages": [{"role": "user", "content": "x" * 5_000_000}]}
    )

    assert (declared.status, declared.code, chunked) == (413, "too_large", 413)
    assert longer.status == 201


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=201", "cursor=nonsense", "cursor=%FF%FE", "cursor=AAAA"]
)
async def test_a_wrong_query_is_422(site: Site, query: str) -> None:
    assert (await site.call("GET", f"/conversations?{query}")).status == 422


async def test_odd_search_words_find_nothing_and_break_nothing(site: Site) -> None:
    for words in ('"', "*", "a AND", "NEAR(", "^", "a\x00b", "(((", "col:x", "-", "🜁", "%", "'; drop table x"):
        reply = await site.session.get(
            f"{site.url}/conversations/search",
            params={"q": words},
            headers={"Authorization": "Bearer the-token-of-the-tests"},
        )
        assert reply.status == 200, words
    assert (await site.call("GET", "/conversations/search?q=")).status == 422
    assert (await site.call("GET", "/conversations/search")).status == 422


async def test_other_methods_are_405_and_say_which_are_possible(site: Site) -> None:
    reply = await site.call("PATCH", "/conversations", {})

    assert (reply.status, reply.code) == (405, "method_not_allowed")
    assert reply.headers["Allow"] == "GET, HEAD, POST"


async def test_trailing_slashes_are_accepted(site: Site) -> None:
    created = await site.call("POST", "/conversations/", {})
    assert created.status == 201
    assert (await site.call("GET", f"/conversations/{created.body['conversation']['id']}/")).status == 200
    assert (await site.call("GET", "/health/", token="")).status == 200


async def test_a_blank_message_is_422_and_starts_no_turn(site: Site) -> None:
    conversation = await site.conversation()
    for content in ("", "   ", "\n", "//"):
        reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": content})
        assert reply.status == 422, content
    assert (await site.get(f"/conversations/{conversation}/turns"))["count"] == 0


async def test_a_draining_server_says_so(tmp_path: Path, strict_llm: StrictLLM) -> None:
    async with open_site(tmp_path / "home", strict_llm) as site:
        conversation = await site.conversation()
        await site.app.runner.drain(0)

        reply = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Hello"})

        assert (reply.status, reply.code) == (503, "shutting_down")
        assert reply.headers["Retry-After"] == "5"
        assert (await site.call("GET", "/health", token="")).status == 200


async def test_a_body_that_never_comes_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.web.endpoints.BODY_S", 0.05)
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    head = (
        f"POST /conversations HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    writer.write(head.encode())

    answer = await reader.readline()
    writer.close()

    assert b" 408 " in answer


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/personas", {"name": " "}, "name: some text is needed."),
        (
            "/servers",
            {"name": "x", "url": "ftp://x"},
            "url: an address that begins with http:// or https:// is needed.",
        ),
        ("/servers", {"name": "x", "slug": "A B", "command": "x"}, "slug: up to 32 small letters"),
    ],
)
async def test_a_text_of_the_wrong_form_is_refused_in_words(site: Site, path: str, body: object, message: str) -> None:
    reply = await site.call("POST", path, body)

    assert reply.status == 422
    assert reply.body["error"]["message"].startswith(message)
