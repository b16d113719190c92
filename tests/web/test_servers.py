"""Servers, providers, personas and the policy over HTTP."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.ledger_file import Ledger
from tests.kit.waiting import until
from tests.web.kit import Site, open_site
from tests.web.test_sudo import asks, unconfirmed
from windlass.config import LimitSettings, WebSearchSettings
from windlass.providers import ProviderConfig
from windlass.testing import StrictLLM, call, say

SECRETS = [f"canary-{n}-{'x' * 20}" for n in range(30)]


async def test_a_stdio_server_is_a_draft_until_its_exact_argv_comes_back(site: Site, ledger: Ledger) -> None:
    command, *args = ledger.argv()
    added = await site.call("POST", "/servers", {"name": "My Ledger", "command": command, "args": args})
    server = added.body["server"]
    assert (added.status, server["status"], server["slug"]) == (201, "draft", "my-ledger")

    early = await site.call("POST", "/servers/my-ledger/start")
    wrong = await site.call("POST", "/servers/my-ledger/confirm", {"argv": [command, *args[:-1]]})
    assert (early.status, early.code) == (409, "draft") and (wrong.status, wrong.code) == (409, "argv")
    assert ledger.pids() == []

    confirmed = await site.post("/servers/my-ledger/confirm", {"argv": server["argv"]})
    assert confirmed["server"]["status"] == "configured"
    running = (await site.post(f"/servers/{server['id']}/start"))["server"]
    assert running["status"] == "running" and running["tool_count"] > 5 and running["era"]
    stopped = (await site.post("/servers/my-ledger/stop"))["server"]
    assert stopped["status"] == "stopped"


async def test_the_body_may_stand_under_server_as_mcp_open_client_sends_it(site: Site, ledger: Ledger) -> None:
    command, *args = ledger.argv()
    upstream = {"name": "My Ledger", "transport": "stdio", "command": command, "args": args, "env": None, "cwd": None}

    added = await site.call("POST", "/servers", {"server": upstream})

    assert (added.status, added.body["server"]["status"]) == (201, "draft")
    assert added.body["server"]["argv"] == [command, *args]
    trusted = {"server": {"name": "Trusted", "command": command, "trusted": True}}
    assert asks(await site.call("POST", "/servers", trusted, token="", headers=unconfirmed(site)))
    for broken in ({"server": {"command": command}}, {"server": "x"}, {"server": upstream, "name": "Two"}):
        assert (await site.call("POST", "/servers", broken)).status == 422


async def test_a_changed_command_must_be_confirmed_again(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger)

    renamed = await site.call("PATCH", "/servers/ledger", {"name": "Other name", "timeout_s": 5})
    assert renamed.body["server"]["status"] == "running"
    changed = await site.call("PATCH", "/servers/ledger", {"args": ["-c", "print(1)"]})

    assert changed.body["server"]["status"] == "draft"
    assert (await site.call("POST", "/servers/ledger/start")).status == 409


async def test_b3_a_replaced_script_is_shown_and_confirmed_over_the_api(
    site: Site, ledger: Ledger, tmp_path: Path
) -> None:
    script = tmp_path / "server.py"
    interpreter, *arguments = ledger.argv()
    for version in ("one", "two"):
        script.write_text(f"import os  # {version}\nos.execv({interpreter!r}, {[interpreter, *arguments]!r})\n")
        if version == "one":
            fields = {"command": interpreter, "args": [str(script)], "inside": {"write": [str(ledger.folder)]}}
            added = await site.post("/servers", {"name": "ledger", **fields})
            await site.post("/servers/ledger/confirm", {"argv": added["server"]["argv"]})
            assert (await site.post("/servers/ledger/start"))["server"]["status"] == "running"
            await site.post("/servers/ledger/stop")
    refused = (await site.post("/servers/ledger/start"))["server"]
    assert refused["status"] == "draft" and f"{script} has another content" in refused["error"]
    assert (await site.call("POST", "/servers/ledger/start")).code == "draft"
    await site.post("/servers/ledger/confirm", {"argv": refused["argv"]})
    assert (await site.post("/servers/ledger/start"))["server"]["status"] == "running"


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "HOME", "Path", "HTTPS_PROXY", "XDG_CONFIG_HOME", "UV_INDEX_URL", "PERLLIB", "CLASSPATH"),
        *("JDK_JAVA_OPTIONS", "DOTNET_STARTUP_HOOKS", "LOG_LEVEL", "MONKEY", "API_KEYS", "KEY_FILE", "TOKEN_URL"),
    ],
)
async def test_b4_a_variable_that_is_no_secret_must_be_confirmed_when_it_changes(
    site: Site, ledger: Ledger, name: str
) -> None:
    await site.add_ledger(ledger, env={name: "/usr/bin:/bin", "KEY": "old"})

    same = await site.call("PATCH", "/servers/ledger", {"env": {name: "/usr/bin:/bin", "KEY": "new"}})
    assert same.body["server"]["status"] in {"starting", "running"}

    changed = await site.call("PATCH", "/servers/ledger", {"env": {name: "/tmp/evil:/bin", "KEY": "new"}})
    assert changed.body["server"]["status"] == "draft"
    assert (await site.call("POST", "/servers/ledger/start")).code == "draft"


@pytest.mark.parametrize("name", ["API_KEY", "github_token", "CLIENT_SECRET", "DB_Password", "NODE_AUTH_TOKEN", "KEY"])
async def test_b4_a_secret_rotates_without_a_confirmation(site: Site, ledger: Ledger, name: str) -> None:
    await site.add_ledger(ledger, env={name: "old", "LOG_LEVEL": "info"})

    rotated = await site.call("PATCH", "/servers/ledger", {"env": {name: "new", "LOG_LEVEL": "info"}})

    assert rotated.body["server"]["status"] in {"starting", "running"}


@pytest.mark.parametrize("after", [{}, {"A": "1", "B": "2"}, {"B": "1"}, {"A": "1", "NEW_KEY": "k"}])
async def test_b4_a_variable_that_comes_or_goes_must_be_confirmed(
    site: Site, ledger: Ledger, after: dict[str, str]
) -> None:
    await site.add_ledger(ledger, env={"A": "1"})

    changed = await site.call("PATCH", "/servers/ledger", {"env": after})

    assert changed.body["server"]["status"] == "draft"


async def test_b4_a_draft_shows_what_is_confirmed_with_its_command(site: Site, ledger: Ledger) -> None:
    env = {"PERLLIB": "/lib", "API_KEY": "hidden-1", "token": "hidden-2", "EMPTY": ""}
    command, *args = ledger.argv()
    added = await site.call("POST", "/servers", {"name": "ledger", "command": command, "args": args, "env": env})
    shown = {"EMPTY": "", "PERLLIB": "/lib"}
    assert added.body["server"]["env_values"] == shown and "hidden" not in added.text
    assert added.body["server"]["env_names"] == ["API_KEY", "EMPTY", "PERLLIB", "token"]

    await site.call("PATCH", "/servers/ledger", {"env": {**env, "PERLLIB": "/other"}})
    confirm = {"argv": added.body["server"]["argv"], "env_values": shown}
    outdated = await site.call("POST", "/servers/ledger/confirm", confirm)
    assert (outdated.status, outdated.code) == (409, "env_values")
    confirm["env_values"] = {**shown, "PERLLIB": "/other"}
    for _ in "ab":  # twice, as a double click does
        confirmed = await site.post("/servers/ledger/confirm", confirm)
        assert (confirmed["server"]["status"], confirmed["server"]["env_values"]) == ("configured", {})


async def test_b4_a_change_names_no_other_servers_secret_to_look_unchanged(site: Site, ledger: Ledger) -> None:
    other = await site.add_ledger(ledger, slug="other", env={"KEY": "/lib"})
    await site.add_ledger(ledger, env={"PERLLIB": "/lib"})

    changed = await site.call("PATCH", "/servers/ledger", {"env": {"PERLLIB": f"secret:{other}/env/KEY"}})

    assert changed.body["server"]["status"] == "draft"
    assert changed.body["server"]["env_values"] == {"PERLLIB": f"secret:{other}/env/KEY"}


async def test_a_command_that_leaves_its_sandbox_must_be_confirmed_again(site: Site, ledger: Ledger) -> None:
    command, *args = ledger.argv()
    body = {"name": "ledger", "command": command, "args": args, "sandbox": "bwrap"}
    added = await site.post("/servers", body)
    await site.post("/servers/ledger/confirm", {"argv": added["server"]["argv"]})

    loosened = await site.call("PATCH", "/servers/ledger", {"sandbox": "off"})

    assert loosened.body["server"]["status"] == "draft"


async def test_a_refused_change_leaves_the_secrets_as_they_were(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, env={"LEDGER_NOTE": "old"})
    await site.post("/servers", {"name": "other", "command": "x"})

    refused = await site.call("PATCH", "/servers/ledger", {"env": {"LEDGER_NOTE": "new"}, "slug": "other"})

    assert refused.status == 409
    assert site.app.vault.values() == ["old"]


async def test_a_new_secret_reaches_the_program_at_once(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger, env={"LEDGER_TOKEN": "old"})

    changed = await site.call("PATCH", "/servers/ledger", {"env": {"LEDGER_TOKEN": "new"}})
    await site.app.servers.wait_ready("ledger", 20)

    assert changed.status == 200 and len(ledger.pids()) == 2


async def test_no_slug_can_be_taken_for_anothers_id(site: Site, ledger: Ledger) -> None:
    server_id = await site.add_ledger(ledger)

    reply = await site.call("POST", "/servers", {"name": "x", "slug": server_id, "url": "https://example.com"})

    assert reply.status == 422 and "slug" in reply.body["error"]["message"]


async def test_a_server_that_cannot_start_says_why(site: Site) -> None:
    added = await site.post("/servers", {"name": "broken", "command": "/no/such/program"})
    await site.post("/servers/broken/confirm", {"argv": added["server"]["argv"]})

    started = await site.post("/servers/broken/start")

    assert started["server"]["status"] == "failed" and "/no/such/program" in started["server"]["error"]


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x"},
        {"name": "x", "url": "ftp://x"},
        {"name": "x", "transport": "http"},
        {"name": "x", "command": "y", "slug": "No Good"},
        {"name": "x", "command": "y", "args": ["a\0b"]},
        {"name": "x", "command": "y", "env": {"a=b": "c"}},
        {"name": "", "command": "y"},
        {"name": "x", "url": "https://x", "headers": {"bad header": "y"}},
    ],
)
async def test_a_server_that_cannot_work_is_422(site: Site, body: object) -> None:
    reply = await site.call("POST", "/servers", body)
    assert reply.status == 422, reply.text
    assert (await site.get("/servers"))["count"] == 0


async def test_imported_servers_are_drafts_and_nothing_runs(site: Site, ledger: Ledger) -> None:
    command, *args = ledger.argv()
    given = {"mcpServers": {"a": {"command": command, "args": args}, "b": {"command": 7}, "c": {"url": "https://x/y"}}}

    reply = await site.call("POST", "/servers/import", given)

    assert reply.status == 201
    assert [(one["slug"], one["status"]) for one in reply.body["servers"]] == [("a", "draft"), ("c", "draft")]
    assert [note["name"] for note in reply.body["notes"] if note["problem"]] == ["b"]
    assert ledger.pids() == []


async def test_an_imported_address_is_a_draft_until_somebody_starts_it(tmp_path: Path, strict_llm: StrictLLM) -> None:
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.post("/servers/import", {"mcpServers": {"c": {"url": "http://127.0.0.1:9/mcp"}}})
        refused = await site.call("POST", "/servers/c/confirm", {"argv": ["http://127.0.0.1:9/mcp"]})
        assert (refused.status, refused.code) == (409, "nothing_to_confirm")
    async with open_site(tmp_path / "home", strict_llm) as site:
        assert (await site.get("/servers/c"))["server"]["status"] == "draft"
        started = await site.post("/servers/c/start")
        assert started["server"]["status"] == "failed"
        await site.post("/servers/c/stop")
        assert (await site.get("/servers/c"))["server"]["status"] == "stopped"


async def test_servers_outlive_a_restart_with_their_secrets(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.add_ledger(ledger, env={"CANARY": "the-secret-value"})
    async with open_site(tmp_path / "home", strict_llm) as site:
        await site.app.servers.wait_ready("ledger", 20)
        shown = (await site.get("/servers/ledger"))["server"]
        dumped = await site.post("/servers/ledger/tools/call", {"name": "env_dump"})

    assert (shown["status"], shown["env_names"]) == ("running", ["CANARY"])
    assert json.loads(dumped["result"]["text"])["CANARY"] == "the-secret-value"


async def test_no_secret_comes_back_or_lies_in_the_database(tmp_path: Path, strict_llm: StrictLLM) -> None:
    home = tmp_path / "home"
    answers: list[str] = []
    async with open_site(home, strict_llm) as site:
        for n in range(10):
            env, header, key = SECRETS[n], SECRETS[10 + n], SECRETS[20 + n]
            bodies = {
                "/servers": {"name": f"s{n}", "command": "x", "env": {"KEY": env}},
                "/servers#": {"name": f"h{n}", "url": "https://x", "headers": {"Authorization": header}},
                "/providers": {"name": f"p{n}", "base_url": "https://x/v1", "api_key": key},
            }
            answers += [(await site.call("POST", path.rstrip("#"), body)).text for path, body in bodies.items()]
        for path in ("/servers", "/providers", "/ready", "/metrics", "/servers/s1", "/servers/s1/log", "/policy"):
            answers.append((await site.call("GET", path)).text)
        await site.app.store.empty_journal()
    kept = [path for path in home.rglob("*") if path.is_file() and path.name != "secrets.json"]

    assert not [secret for secret in SECRETS if secret in "".join(answers)]
    assert not [path for path in kept if any(secret.encode() in path.read_bytes() for secret in SECRETS)]
    assert (home / "secrets.json").stat().st_mode & 0o777 == 0o600


async def test_one_servers_env_cannot_name_anothers_secret(site: Site, ledger: Ledger) -> None:
    first = await site.add_ledger(ledger, slug="one", env={"KEY": "mine"})
    await site.add_ledger(ledger, slug="two", env={"STOLEN": f"secret:{first}/env/KEY"})

    dumped = await site.post("/servers/two/tools/call", {"name": "env_dump"})

    assert json.loads(dumped["result"]["text"])["STOLEN"] == f"secret:{first}/env/KEY"


async def test_a_tool_is_called_by_hand_with_checked_arguments(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger)

    good = await site.post("/servers/ledger/tools/call", {"name": "echo", "arguments": {"text": "hi"}})
    failed = await site.post("/servers/ledger/tools/call", {"name": "fail"})
    bad = await site.call("POST", "/servers/ledger/tools/call", {"name": "record", "arguments": {"effect_id": 1}})
    unknown = await site.call("POST", "/servers/ledger/tools/call", {"name": "nothing"})

    assert (good["success"], good["result"]["state"], good["result"]["text"]) == (True, "ok", "hi")
    assert (failed["success"], failed["result"]["state"]) == (False, "error")
    assert (bad.status, unknown.status) == (422, 404)


async def test_two_tools_of_one_name_are_told_apart(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger, slug="one")
    await site.add_ledger(ledger, slug="two")
    conversation = await site.conversation()
    await site.enable(conversation, "echo", server="one")
    await site.enable(conversation, "echo", server="two")
    strict_llm.then(say("Two."))

    await site.post(f"/conversations/{conversation}/chat", {"content": "Hello"})

    assert {"one__echo", "two__echo"} <= {*strict_llm.requests[0].tool_names}


async def test_calls_to_two_tools_of_one_name_each_name_their_server(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger, slug="one")
    await site.add_ledger(ledger, slug="two")
    conversation = await site.conversation()
    await site.enable(conversation, "record", server="one", approval="ask")
    await site.enable(conversation, "record", server="two", approval="ask")
    both = call("two__record", effect_id="b") + call("one__record", effect_id="a")
    strict_llm.then(both, say("Both."), call("record", effect_id="c"))

    waiting = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Both"})
    first, second = waiting.body["pending_calls"]
    assert [(one["name"], one["server_slug"]) for one in (first, second)] == [
        ("two__record", "two"),
        ("one__record", "one"),
    ]
    turn = f"/turns/{waiting.body['turn_id']}"
    await site.post(f"{turn}/calls/{first['call_id']}/decision", {"decision": "allow", "hash": first["hash"]})
    await site.post(f"{turn}/calls/{second['call_id']}/decision", {"decision": "deny"})
    done = (await site.get(f"{turn}?wait=60"))["turn"]
    assert [(one["server_slug"], one["state"]) for one in done["calls"]] == [("two", "ok"), ("one", "denied")]

    await site.call("DELETE", f"/conversations/{conversation}/tools?server_id=one&tool_name=record")
    alone = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "The other"})
    (pending,) = alone.body["pending_calls"]
    assert (pending["name"], pending["server_slug"]) == ("record", "two")


async def test_a_provider_of_ones_own_answers_and_keeps_its_key(tmp_path: Path, strict_llm: StrictLLM) -> None:
    async with StrictLLM([say("From the other.")], api_key="other-key") as other:
        async with open_site(tmp_path / "home", strict_llm) as site:
            fields = {"name": "Other", "base_url": other.base_url, "api_key": "other-key", "model": "m"}
            added = await site.call("POST", "/providers", fields)
            provider = added.body["provider"]
            assert added.status == 201 and provider["has_key"] and "api_key" not in provider
        async with open_site(tmp_path / "home", strict_llm) as site:
            conversation = await site.conversation(provider=provider["id"])
            body = await site.post(f"/conversations/{conversation}/chat", {"content": "Hello"})
            assert body["assistant_message"]["content"] == "From the other."
            models = await site.get(f"/providers/{provider['id']}/models")
            assert [model["id"] for model in models["models"]] == ["strict-model"]
            await site.call("PATCH", f"/providers/{provider['id']}", {"default": True})
            shown = {one["id"]: one["default"] for one in (await site.get("/providers"))["providers"]}
            assert shown == {"strict": False, provider["id"]: True}
            assert (await site.call("DELETE", f"/providers/{provider['id']}")).status == 200
            own = await site.call("DELETE", "/providers/strict")
            assert (own.status, own.code) == (409, "from_config")
            gone = await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Still there?"})
            assert (gone.status, gone.code) == (409, "no_provider")
    assert "other-key" not in (tmp_path / "home" / "secrets.json").read_text()


async def test_a_conversation_names_only_what_is_there(site: Site) -> None:
    for field in ("persona", "provider"):
        reply = await site.call("POST", "/conversations", {field: "nobody"})
        assert (reply.status, reply.body["error"]["detail"]) == (422, {"path": field})


async def test_personas_come_with_it_and_a_change_can_be_taken_back(site: Site, strict_llm: StrictLLM) -> None:
    names = [one["id"] for one in (await site.get("/personas"))["personas"]]
    assert names == ["assistant", "librarian", "researcher"]

    await site.call("PATCH", "/personas/librarian", {"system_prompt": "Say shh."})
    conversation = await site.conversation(persona="librarian")
    strict_llm.then(say("Shh."))
    await site.post(f"/conversations/{conversation}/chat", {"content": "Hello"})

    assert "Say shh." in strict_llm.requests[0].messages[0]["content"]
    assert (await site.call("DELETE", "/personas/librarian")).status == 200
    back = (await site.get("/personas/librarian"))["persona"]
    assert "librarian" in back["system_prompt"]
    assert (await site.call("DELETE", "/personas/librarian")).status == 409


async def test_a_personas_tools_are_on_in_its_new_conversations(
    site: Site, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    await site.add_ledger(ledger)
    persona = (await site.post("/personas", {"name": "Clerk", "tools": ["ledger.read_*"]}))["persona"]

    conversation = await site.conversation(persona=persona["id"])

    enabled = (await site.get(f"/conversations/{conversation}/tools"))["enabled_tools"]
    assert sorted(tool["tool_name"] for tool in enabled) == ["read_only", "read_slow"]


@pytest.mark.parametrize(
    ("search", "reason"),
    [
        (WebSearchSettings(backend="off"), "The web search is off in windlass.toml."),
        (WebSearchSettings(backend="brave"), "Brave"),
        (
            WebSearchSettings(backend="mcp", mcp_tool="gone.search"),
            "There is no server 'gone' for web_search.mcp_tool.",
        ),
        (WebSearchSettings(backend="searxng", searxng_url="http://127.0.0.1:1"), ""),
    ],
)
async def test_whether_the_web_can_be_searched_is_told_with_the_reason(
    tmp_path: Path, strict_llm: StrictLLM, search: WebSearchSettings, reason: str
) -> None:
    async with open_site(tmp_path / "home", strict_llm, web_search=search) as site:
        state = await site.get("/search")
    assert state["backend"] == search.backend and state["prefix"] is True
    assert state["ready"] is (reason == "") and state["reason"].startswith(reason)


@pytest.mark.parametrize(
    ("search", "told"),
    [
        (WebSearchSettings(backend="mcp", mcp_tool="ledger.record"), ""),
        (WebSearchSettings(backend="mcp", mcp_tool="ledger.record", argument="effect_id"), ""),
        (
            WebSearchSettings(backend="mcp", mcp_tool="ledger.record", argument="wrong"),
            "under [web_search] in windlass.toml",
        ),
        (WebSearchSettings(backend="mcp", mcp_tool="ledger.gone"), "The server 'ledger' has no tool 'gone'"),
    ],
)
async def test_a_search_tool_is_called_with_the_argument_it_has(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger, search: WebSearchSettings, told: str
) -> None:
    async with open_site(tmp_path / "home", strict_llm, web_search=search) as site:
        await site.add_ledger(ledger)
        [trial] = (await site.post("/search/test", {"query": "tide"}))["trials"]
    assert (trial["works"], ledger.counts()) == ((False, {}) if told else (True, {"tide": 1}))
    assert told in trial["told"]


@pytest.mark.parametrize("rule", [{"approval": "deny"}, {"then": "deny"}, {"approval": "deny", "then": "deny"}])
async def test_a_rule_is_understood_in_either_spelling_and_shown_in_both(site: Site, rule: dict[str, str]) -> None:
    reply = await site.call("PUT", "/policy", {"rules": [rule]})
    [shown] = reply.body["rules"]
    assert (shown["approval"], shown["then"]) == ("deny", "deny")


@pytest.mark.parametrize(
    ("rule", "why"), [({}, "`approval` is required"), ({"approval": "deny", "then": "ask"}, "differ")]
)
async def test_a_rule_without_one_clear_approval_is_refused(site: Site, rule: dict[str, str], why: str) -> None:
    reply = await site.call("PUT", "/policy", {"rules": [rule]})
    assert reply.status == 422 and why in reply.body["error"]["message"]


async def test_the_policy_is_put_in_order_and_holds(site: Site, ledger: Ledger) -> None:
    rules: list[dict[str, Any]] = [
        {"then": "deny", "tool": "destroy"},
        {"then": "ask", "server": "ledger", "tool": "record", "arguments": {"effect_id": "x*"}, "name": "careful"},
    ]

    reply = await site.call("PUT", "/policy", {"rules": rules})

    assert reply.status == 200 and reply.body["count"] == 2
    shown = (await site.get("/policy"))["rules"]
    assert [{key: rule[key] for key in given} for rule, given in zip(shown, rules, strict=True)] == rules
    assert (await site.call("PUT", "/policy", {"rules": [{"approval": "maybe"}]})).status == 422


async def test_health_ready_and_metrics_tell_how_it_is(site: Site, strict_llm: StrictLLM, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    strict_llm.then(say("Hi."))
    await site.post(f"/conversations/{conversation}/chat", {"content": "Hello"})

    assert (await site.call("GET", "/health", token="")).body["status"] == "ok"
    ready = await site.get("/ready")
    assert (ready["status"], ready["running_turns"], ready["servers"]) == ("ready", 0, {"running": 1})
    metrics = (await site.call("GET", "/metrics")).text
    assert "windlass_turns_started_total 1\n" in metrics and 'windlass_servers{status="running"} 1' in metrics


async def test_a_server_counts_its_calls_and_those_that_failed(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    fresh = (await site.get("/servers/ledger"))["server"]
    assert (fresh["calls"], fresh["errors"], fresh["retry_at"]) == (0, 0, None)
    await site.call("POST", "/servers/ledger/tools/call", {"name": "echo", "arguments": {"text": "Hello"}})
    assert (await site.get("/servers/ledger"))["server"]["calls"] == 1


async def test_a_provider_is_tested_by_what_it_does(site: Site, strict_llm: StrictLLM) -> None:
    strict_llm.then(*(say("one, two, three") for _ in range(4)))
    provider = (await site.get("/providers"))["providers"][0]
    tested = await site.post(f"/providers/{provider['id']}/test")
    found = {one["question"]: one["answer"] for one in tested["findings"]}
    assert tested["ok"] and (found["answers"], found["calls a tool"]) == ("yes", "no")


async def test_limits_say_what_is_in_force_and_whether_the_file_set_it(tmp_path: Path, strict_llm: StrictLLM) -> None:
    async with open_site(tmp_path / "home", strict_llm, limits=LimitSettings(rounds=20)) as site:
        limits = {one["name"]: one for one in (await site.get("/limits"))["limits"]}
    assert limits["rounds"] == {"name": "rounds", "value": 20, "default": 10, "source": "file", "live": True}
    assert limits["calls"]["source"] == "default" and limits["day_tokens"]["value"] is None


async def test_local_model_servers_are_looked_for(site: Site) -> None:
    found = await site.get("/local-models")
    assert found["count"] == len(found["servers"])


async def test_a_provider_may_be_called_local(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home") as site:
        site.app.models.put(ProviderConfig("local", "On this machine", "http://127.0.0.1:1/v1"))
        assert (await site.get("/providers/local"))["provider"]["name"] == "On this machine"


async def test_a_tool_can_be_enabled_and_used_while_its_slow_server_starts(
    site: Site, ledger: Ledger, strict_llm: StrictLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However short a look at a list is: as `npx` does, it may take long until its first word."""
    monkeypatch.setattr("windlass.services.tools.ARRIVING_S", 0.01)
    gate = Path(ledger.gate("start"))
    gate.touch()
    await site.add_ledger(ledger, "--start-gate", str(gate))
    conversation = await site.conversation()
    for wanted in (site.enable(conversation, "echo"), _offered(site, conversation, strict_llm)):
        await site.post("/servers/ledger/stop")
        gate.unlink()
        starting = asyncio.create_task(site.post("/servers/ledger/start"))
        await until(lambda: site.app.servers.status("ledger").state == "starting", "the start")
        waiting = asyncio.create_task(wanted)
        await site.get(f"/conversations/{conversation}/tools")  # a look is over while the others wait
        assert not waiting.done()
        gate.touch()
        await asyncio.gather(starting, waiting)
    assert "echo" in [one["function"]["name"] for one in strict_llm.requests[-1].body["tools"]]


async def _offered(site: Site, conversation: str, llm: StrictLLM) -> None:
    llm.then(say("Hello."))
    await site.post(f"/conversations/{conversation}/chat", {"content": "Hi"})


async def test_the_tools_of_a_removed_server_are_on_nowhere(site: Site, ledger: Ledger) -> None:
    await site.add_ledger(ledger)
    conversation = await site.conversation()
    await site.enable(conversation, "record")

    await site.call("DELETE", "/servers/ledger")

    assert (await site.get(f"/conversations/{conversation}/tools"))["enabled_tools"] == []
    assert (await site.get(f"/conversations/{conversation}/export"))["enabled_tools"] == []
