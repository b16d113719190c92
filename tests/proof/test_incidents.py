"""Commands and secrets of others that ran or leaked, tried here. Each test is named after its incident; the table is
`incidents`."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.ledger_http import ledger_http
from tests.proof.figures import note
from tests.web.kit import TOKEN, Site, open_site
from windlass.testing import Gate, StrictLLM, call, raw_call, raw_event, say, wait_for

IMPORTS = 200


def touch(canary: Path) -> dict[str, object]:
    return {"command": "/bin/sh", "args": ["-c", f"touch {canary}"]}


async def test_cve_2026_45018_a_request_that_carries_a_command_runs_nothing(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    async with open_site(tmp_path / "home") as site:
        for extra in ({}, {"trusted": True}, {"tools": "*"}):
            body = {"name": f"n{len(extra)}{next(iter(extra), '')}", **touch(canary), **extra}
            reply = await site.call("POST", "/servers", body)
            assert (reply.status, reply.body["server"]["status"]) == (201, "draft"), reply.text
        for claim in ({"confirmed": True}, {"operator": True}, {"status": "running"}):
            reply = await site.call("POST", "/servers", {"name": "claims", **touch(canary), **claim})
            assert reply.status == 422, reply.text
        await site.conversation()
    assert not canary.exists()


async def test_cve_2026_42271_and_cve_2026_30623_trying_a_draft_runs_nothing(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    async with open_site(tmp_path / "home") as site:
        await site.post("/servers", {"name": "bad", **touch(canary)})
        conversation = await site.conversation()
        tries = [
            ("POST", "/servers/bad/start", {}),
            ("POST", "/servers/bad/confirm", {"argv": ["/bin/sh", "-c"]}),
            ("POST", "/servers/bad/confirm", {"argv": ["/bin/sh", "-c", f"touch {canary} "]}),
            ("POST", "/servers/bad/tools/call", {"name": "x", "arguments": {}}),
            ("GET", "/servers/bad/tools", None),
            ("GET", "/servers/bad/log", None),
            ("PATCH", "/servers/bad", {"trusted": True}),
            ("POST", "/servers/bad/start", {}),
            ("POST", f"/conversations/{conversation}/tools", {"server_id": "bad", "tool_name": "x"}),
        ]
        for method, path, body in tries:
            reply = await site.call(method, path, body)
            assert reply.status < 500, (method, path, reply.text)
            assert (await site.get("/servers/bad"))["server"]["status"] == "draft"
    assert not canary.exists()


async def test_cve_2026_40933_langflow_and_localai_9394_no_import_starts_anything(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    async with open_site(tmp_path / "home", durability="normal") as site:
        for number in range(IMPORTS):
            reply = await site.call("POST", "/servers/import", hostile(number, canary))
            assert reply.status < 500, reply.text
        assert await _started(site) == []
    async with open_site(tmp_path / "home", durability="normal") as site:
        assert await _started(site) == [], "after a restart"
    assert not canary.exists()
    note("imports", count=IMPORTS)


async def _started(site: Site) -> list[str]:
    listed = (await site.get("/servers"))["servers"]
    return [one["slug"] for one in listed if one["status"] not in ("draft", "configured") and one["slug"] != "demo"]


def hostile(number: int, canary: Path) -> dict[str, object]:
    """Commands in every dress: shells, interpreters, hooks of loaders, links, odd types, odd names."""
    run = f"touch {canary}"
    entries: list[object] = [
        {"command": "sh", "args": ["-c", run]},
        {"command": f"sh -c '{run}'"},
        {"command": "python3", "args": ["-c", f"open({str(canary)!r}, 'w')"]},
        {"command": "env", "args": ["sh", "-c", run], "confirmed": True},
        {"command": "true", "env": {"LD_PRELOAD": "/tmp/evil.so", "BASH_ENV": str(canary)}},
        {"command": "$(touch canary)", "args": [f"`{run}`", f"; {run}"]},
        {"command": "sh", "args": ["-c", run], "autoStart": True, "disabled": False, "alwaysAllow": ["*"]},
        {"url": f"file://{canary}", "command": "sh", "args": ["-c", run]},
        {"url": "http://169.254.169.254/latest/meta-data", "type": "sse"},
        {"command": ["sh", "-c", run]},
        {"command": "sh", "args": ["-c", run], "trusted": True, "operator": True, "status": "running"},
        {"type": "stdio", "command": "sh", "args": ["-c", run], "cwd": "/", "env": {"PATH": str(canary.parent)}},
    ]
    name = ["evil", "Evil Server", "evil/../../x", "evil\u202e", "evil" * 50, "demo", "evil'; drop table servers; --"][
        number % 7
    ]
    entry = entries[number % len(entries)]
    key = ["mcpServers", "servers"][number // 12 % 2]
    return {key: {f"{name}{number}": entry}}


async def test_chatbox_3627_opening_a_link_starts_nothing(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    entry = json.dumps({"mcpServers": {"x": touch(canary)}})
    async with open_site(tmp_path / "home") as site:
        before = (await site.get("/servers"))["count"]
        for path in ("/?import=", "/ui/servers?add=", "/ui/?mcp=", "/servers?import="):
            assert (await site.call("GET", path + entry.replace(" ", "%20").replace("#", ""))).status < 500
        assert (await site.get("/servers"))["count"] == before
    assert not canary.exists()


@pytest.mark.parametrize(
    "argument", ["; touch {}", "$(touch {})", "`touch {}`", "| touch {}", "\n touch {}", "&& touch {}"]
)
async def test_cve_2025_6514_no_shell_sees_an_argument(argument: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    async with open_site(tmp_path / "home") as site:
        made = await site.post("/servers", {"name": "odd", "command": "true", "args": [argument.format(canary)]})
        await site.post("/servers/odd/confirm", {"argv": made["server"]["argv"]})
        await site.call("POST", "/servers/odd/start", {})
        reply = await site.call("POST", "/servers", {"name": "far", "url": f"http://x/{argument.format(canary)}"})
        assert reply.status < 500
    assert not canary.exists()


async def test_cve_2025_54136_a_changed_command_must_be_confirmed_again(tmp_path: Path, ledger: Ledger) -> None:
    canary = tmp_path / "canary"
    async with open_site(tmp_path / "home") as site:
        await site.add_ledger(ledger)
        changed = await site.call("PATCH", "/servers/ledger", touch(canary))
        assert changed.status == 200 and changed.body["server"]["status"] == "draft", changed.text
        await site.call("POST", "/servers/ledger/start", {})
    async with open_site(tmp_path / "home") as site:
        assert (await site.get("/servers/ledger"))["server"]["status"] == "draft"
    assert not canary.exists()


async def test_cve_2025_64496_events_of_the_model_server_are_data(tmp_path: Path) -> None:
    odd = say("Hello") + raw_event('{"type": "execute", "choices": [], "event": {"script": "alert(1)"}}')
    async with StrictLLM([odd]) as llm, open_site(tmp_path, llm) as site:
        conversation = await site.conversation()
        async with site.events(f"/conversations/{conversation}/events") as events:
            answer = await site.post(f"/conversations/{conversation}/chat", {"content": "Hi"})
            heard = await events.until("turn_finished")
    kinds = {event.event for event in heard}
    assert kinds <= {"turn_started", "turn_claimed", "text_delta", "model_replied", "turn_finished", "reply_so_far"}
    assert answer["assistant_message"]["content"] == "Hello"


async def test_cve_2026_45339_and_cve_2026_44567_there_is_one_way_in(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        for headers in (
            {"x-api-key": TOKEN},
            {"api-key": TOKEN},
            {"Cookie": f"token={TOKEN}"},
            {"X-Auth-Token": TOKEN},
        ):
            assert (await site.call("GET", "/conversations", headers=headers, token="")).status == 401
        for path in (f"/conversations?token={TOKEN}", f"/conversations?api_key={TOKEN}", f"/conversations?key={TOKEN}"):
            assert (await site.call("GET", path, token="")).status == 401
        basic = {"Authorization": f"Basic {TOKEN}"}
        assert (await site.call("GET", "/conversations", headers=basic, token="")).status == 401


async def test_cve_2026_32625_no_environment_reaches_what_a_user_configured(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET_OF_THE_HOST", "swordfish")
    (tmp_path / "secret").write_text("swordfish")
    forms = ["env:A_SECRET_OF_THE_HOST", "${A_SECRET_OF_THE_HOST}", "$A_SECRET_OF_THE_HOST", f"file:{tmp_path}/secret"]
    async with ledger_http(ledger) as url, open_site(tmp_path / "home") as site:
        headers = {f"X-Try-{n}": form for n, form in enumerate(forms)}
        await site.post("/servers", {"name": "far", "url": f"{url}?x=${{A_SECRET_OF_THE_HOST}}", "headers": headers})
        await site.call("POST", "/servers/far/start", {})
        command, *args = ledger.argv()
        env = {f"TRY_{n}": form for n, form in enumerate(forms)}
        made = await site.post("/servers", {"name": "near", "command": command, "args": args, "env": env})
        await site.post("/servers/near/confirm", {"argv": made["server"]["argv"]})
        await site.post("/servers/near/start")
        dump = await site.post("/servers/near/tools/call", {"name": "env_dump", "arguments": {}})
    assert "swordfish" not in json.dumps(dump)
    assert "swordfish" not in ledger.path.read_text()


async def test_cve_2026_109292_tool_servers_get_none_of_our_headers(tmp_path: Path, ledger: Ledger) -> None:
    async with ledger_http(ledger) as url, open_site(tmp_path / "home") as site:
        await site.post("/servers", {"name": "far", "url": url})
        await site.post("/servers/far/start")
        headers = {**site.browser(), "X-Mine": "mine"}
        body = {"name": "echo", "arguments": {"text": "x"}}
        assert (await site.call("POST", "/servers/far/tools/call", body, headers=headers)).status == 200
    seen = ledger.path.read_text()
    assert "headers" in seen
    assert not [value for value in (TOKEN, *headers.values()) if value in seen]
    assert "X-Mine" not in seen and "x-mine" not in seen


async def test_llama_cpp_25790_an_address_never_sends_a_message(tmp_path: Path) -> None:
    async with StrictLLM([]) as llm, open_site(tmp_path, llm) as site:
        for path in ("/?q=do+it", "/ui/?q=do+it", "/ui/new?prompt=x&send=1", "/conversations?q=x", "/?message=x"):
            await site.call("GET", path)
        assert (await site.get("/conversations"))["count"] == 0
    assert llm.requests == []


async def test_mcp_open_client_a_slow_model_holds_up_nobody_else(tmp_path: Path) -> None:
    gate = Gate()
    async with StrictLLM([wait_for(gate) + say("At last."), say("At once.")]) as llm, open_site(tmp_path, llm) as site:
        slow, quick = await site.conversation(), await site.conversation()
        waiting = asyncio.create_task(site.post(f"/conversations/{slow}/chat", {"content": "a"}))
        await gate.reached()
        answer = await site.post(f"/conversations/{quick}/chat", {"content": "b"})
        assert answer["assistant_message"]["content"] == "At once." and not waiting.done()
        gate.open()
        assert (await waiting)["assistant_message"]["content"] == "At last."


@pytest.mark.parametrize("arguments", ["{", '{"effect_id": ', "not json", '{"effect_id": "a"', "[1, 2", '"', "\x00"])
async def test_mcp_open_client_bad_json_of_a_model_poisons_nothing(
    arguments: str, tmp_path: Path, ledger: Ledger
) -> None:
    script = [raw_call("record", arguments), say("Sorry."), call("record", effect_id="good"), say("Done.")]
    async with StrictLLM(script) as llm, open_site(tmp_path / "home", llm) as site:
        await site.add_ledger(ledger)
        conversation = await site.conversation()
        await site.enable(conversation, "record")
        for text in ("first", "second"):
            answer = await site.post(f"/conversations/{conversation}/chat", {"content": text})
            assert answer["outcome"] == "answered"
    assert llm.refused == []
    assert ledger.counts() == {"good": 1}
