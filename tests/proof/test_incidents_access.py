"""Who got in elsewhere, and how, tried here: strangers, rebound names, ids of others, addresses inside, things too big.
Each case is named after its incident."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.kit.ledger_file import Ledger
from tests.search.kit import Answer, Names, says, watch_dialling
from tests.search.kit import site as web_site
from tests.web.kit import TOKEN, Site, open_site
from windlass.core.errors import ToolError
from windlass.demo.tools import Folders, ToolFailure, ToolRequest, read_file
from windlass.search.guard import FetchGuard
from windlass.testing import StrictLLM, call, say

EVIL = "https://evil.example"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        pytest.param("POST", "/servers", id="CVE-2025-49596"),
        pytest.param("POST", "/servers/odd/confirm", id="CVE-2026-22252"),
        pytest.param("GET", "/conversations/{}/events", id="CVE-2026-31950"),
        pytest.param("POST", "/servers/import", id="mcp-open-client: no auth"),
        pytest.param("GET", "/providers", id="mcp-open-client-v2: no auth"),
    ],
)
async def test_without_the_token_nothing_is_told_and_nothing_runs(method: str, path: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    command = {"command": "/bin/sh", "args": ["-c", f"touch {canary}"]}
    async with open_site(tmp_path / "home") as site:
        added = await site.post("/servers", {"name": "odd", **command})
        bodies = {
            "/servers": {"name": "evil", **command},
            "/servers/odd/confirm": {"argv": added["server"]["argv"]},
            "/servers/import": {"mcpServers": {"evil": command}},
        }
        where = path.format(await site.conversation())
        for token, headers, status in (("", {}, 401), ("", {"Origin": EVIL}, 403), ("guess", {}, 401)):
            reply = await site.call(method, where, bodies.get(path), token=token, headers=headers)
            assert reply.status == status, reply.text
            assert set(reply.body) == {"success", "error"}, reply.text
        assert {one["slug"] for one in (await site.get("/servers"))["servers"]} == {"demo", "odd"}
    assert not canary.exists()


@pytest.mark.parametrize(
    ("method", "path", "header"),
    [
        pytest.param("POST", "/conversations", "Host: evil.example:{port}", id="CVE-2025-66414"),
        pytest.param("GET", "/conversations/{id}/events", "Host: 127.0.0.1.evil.example:{port}", id="CVE-2025-66416"),
        pytest.param("DELETE", "/conversations/{id}", "Host: localhost:{port}\r\nOrigin: " + EVIL, id="CVE-2026-42559"),
        pytest.param(
            "GET", "/conversations", "Host: 127.0.0.1:{port}\r\nOrigin: " + EVIL, id="mcp-open-client-v2: any origin"
        ),
    ],
)
async def test_a_page_of_another_name_is_refused_even_with_the_token(
    method: str, path: str, header: str, tmp_path: Path
) -> None:
    async with open_site(tmp_path) as site:
        conversation = await site.conversation()
        head = f"{method} {path.format(id=conversation)} HTTP/1.1\r\n{header.format(port=site.port)}\r\n"
        sent = f"{head}Authorization: Bearer {TOKEN}\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{{}}"
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
        writer.write(sent.encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        writer.close()
        assert b" 403 " in answer.partition(b"\r\n")[0]
        assert b"access-control-allow" not in answer.lower()
        assert (await site.get("/conversations"))["count"] == 1


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/conversations/{other}/messages?head={turn}", id="CVE-2026-45349"),
        pytest.param("/conversations/{other}/context/{note}", id="CVE-2026-45671"),
        pytest.param("/conversations/{other}/messages/{message}", id="CVE-2026-31950 by id"),
    ],
)
async def test_an_id_opens_nothing_where_it_does_not_belong(path: str, tmp_path: Path) -> None:
    async with StrictLLM([say("Hi.")]) as llm, open_site(tmp_path, llm) as site:
        mine, other = await site.conversation(), await site.conversation()
        turn = await site.post(f"/conversations/{mine}/chat", {"content": "a secret of mine"})
        note = await site.post(f"/conversations/{mine}/context", {"descriptive_name": "a", "content": "b"})
        ids = {"turn": turn["turn_id"], "note": note["context_id"], "message": turn["user_message"]["id"]}
        for method in ("GET", "DELETE"):
            reply = await site.call(method, path.format(other=other, **ids))
            assert reply.status in (404, 405) and "secret of mine" not in reply.text
        assert (await site.get(f"/conversations/{mine}/messages"))["count"] == 2


async def test_cve_2026_59216_a_session_is_not_an_id_that_can_be_read_or_guessed(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        session = site.access.log_in(token=TOKEN)
        assert len(session.cookie) >= 32 and len(session.half) >= 32
        told = [(await site.call("GET", path)).text for path in ("/conversations", "/providers", "/servers", "/health")]
        kept = [file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file()]
        assert not any(secret in text for text in (*told, *kept) for secret in (session.cookie, session.half))
        cookie, half = session.cookie, session.half
        swapped = [(cookie, ""), ("", half), (half, cookie), (cookie, cookie), (f"{cookie}.{half}", "")]
        changed = [(cookie[:-1], half), (cookie + "x", half), (cookie, half[::-1]), (cookie, half + "x")]
        for first, second in swapped + changed:
            headers = {"Cookie": f"windlass_{site.port}={first}", "X-Windlass-Session": second}
            assert (await site.call("GET", "/conversations", headers=headers, token="")).status == 401
        headers = {"Cookie": f"windlass_{site.port}={cookie}", "X-Windlass-Session": half}
        assert (await site.call("GET", "/conversations", headers=headers, token="")).status == 200


REBINDING = {"rebinding.test": [["93.184.215.14"], ["127.0.0.1"]]}


@pytest.mark.parametrize(
    ("address", "names"),
    [
        pytest.param("http://public.test\\@127.0.0.1:{port}/", {}, id="CVE-2026-45400"),
        pytest.param("redirect", {}, id="CVE-2026-45401"),
        pytest.param("http://[64:ff9b::7f00:1]:{port}/", {}, id="CVE-2026-70485"),
        pytest.param("http://[::ffff:7f00:1]:{port}/", {}, id="CVE-2026-31943"),
        pytest.param("http://rebinding.test:{port}/", REBINDING, id="CVE-2025-69222"),
        pytest.param("http://inside.test:{port}/", {"inside.test": [["127.0.0.1"]]}, id="CVE-2025-54157"),
        pytest.param("http://0177.1:{port}/", {}, id="CVE-2026-45019"),
    ],
)
async def test_no_address_leads_inside(
    address: str, names: dict[str, list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = watch_dialling(monkeypatch)
    async with web_site(says("the canary")) as canary, web_site(_away(canary.port)) as start:
        url = start.url() if address == "redirect" else address.format(port=canary.port)
        guard = FetchGuard(frozenset({f"127.0.0.1:{start.port}"}), Names(names).resolve)
        with pytest.raises(ToolError):
            await guard.fetch(url)
        assert not canary.requests
        assert ("127.0.0.1", canary.port) not in dialled.addresses


def _away(port: int) -> Answer:
    return says(status=302, Location=f"http://127.0.0.1:{port}/")


async def test_cve_2026_54024_an_import_has_a_size(tmp_path: Path) -> None:
    large = json.dumps({"messages": [{"role": "user", "content": "x" * (21 << 20)}]}).encode()
    async with open_site(tmp_path) as site:
        for path in ("/conversations/import", "/servers/import"):
            assert (await site.call("POST", path, raw=large)).status == 413
        assert (await site.get("/conversations"))["count"] == 0


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("link/secret.txt", id="CVE-2025-53109"),
        pytest.param("../documents-private/secret.txt", id="CVE-2025-53110"),
    ],
)
def test_a_link_or_a_name_that_begins_alike_leads_out_of_no_folder(path: str, tmp_path: Path) -> None:
    """The demo's own file tool, on a folder with a link out of it and a neighbour of nearly its name."""
    inside, outside = tmp_path / "documents", tmp_path / "documents-private"
    for folder in (inside, outside):
        folder.mkdir()
    (outside / "secret.txt").write_text("swordfish")
    (inside / "link").symlink_to(outside)
    assert (inside / path).resolve().read_text() == "swordfish"
    reading = ToolRequest({"path": path}, Folders(inside, tmp_path), lambda *progress: None)
    with pytest.raises(ToolFailure, match="outside"):
        read_file(reading)


async def test_mcp_open_client_v2_a_key_goes_in_and_never_comes_out(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        body = {"name": "mine", "base_url": "https://models.example/v1", "model": "m", "api_key": "sk-swordfish-0001"}
        made = await site.call("POST", "/providers", body)
        assert made.status == 201, made.text
        listed = await site.call("GET", "/providers")
        assert "mine" in listed.text and "swordfish" not in listed.text + made.text


async def test_postmark_mcp_a_tool_that_gains_a_field_is_off_until_it_is_accepted(
    tmp_path: Path, ledger: Ledger
) -> None:
    fields = {"effect_id": {"type": "string"}, "bcc": {"type": "string"}}
    gained = call("change_tools", name="record", inputSchema={"type": "object", "properties": fields})
    script = [gained, say("Sent."), call("record", effect_id="a", bcc="x"), say("Not sent.")]
    async with StrictLLM(script) as llm, open_site(tmp_path, llm) as site:
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "record", "change_tools", approval="auto")
        for text in ("first", "second"):
            await site.post(f"/conversations/{conversation}/chat", {"content": text})
        assert (await _tool(site, "record"))["changed"]
    assert "record" in llm.requests[0].tool_names
    assert ledger.counts() == {}


async def _tool(site: Site, name: str) -> dict[str, object]:
    return next(one for one in (await site.get("/servers/ledger/tools"))["tools"] if one["name"] == name)


async def test_ox_2026_a_command_does_not_run_before_it_is_found_wanting(tmp_path: Path) -> None:
    """Neither when it is added, nor when it is tried; after its exact words were sent back it may run, and fail."""
    canary = tmp_path / "work" / "canary"
    canary.parent.mkdir()
    command = {"command": "/bin/sh", "args": ["-c", "touch canary; exit 1"], "cwd": str(canary.parent)}
    async with open_site(tmp_path / "home") as site:
        added = await site.post("/servers", {"name": "bad", **command})
        assert (await site.call("POST", "/servers/bad/start", {})).status == 409
        assert not canary.exists()
        await site.post("/servers/bad/confirm", {"argv": added["server"]["argv"]})
        started = await site.call("POST", "/servers/bad/start", {})
        assert started.body["server"]["status"] == "failed" and canary.exists()
