"""Tools through the whole server: what their programs get to see, what becomes of large and odd results, what a big
catalogue costs, how long each may take, and what happens when a tool asks a person."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_loop import with_ledger
from tests.kit.fenced import unfenced
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess, model_settings, windlass
from windlass.testing import Reply, StrictLLM, call, calls, say
from windlass.testing.recording import RecordedRequest

SECRETS = {"WINDLASS_TOKEN": "token-canary-of-the-test", "ZAI_API_KEY": "zai-canary-of-the-test"}


@pytest.fixture
async def server(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> AsyncIterator[WindlassProcess]:
    with_ledger(tmp_path / "home", ledger)
    async with windlass(tmp_path / "home", env=model_settings(strict_llm.base_url)) as process:
        await process.running("ledger")
        yield process


async def chat(server: WindlassProcess, content: str = "go") -> tuple[str, dict[str, Any]]:
    """The conversation, and the turn once it is over or waits."""
    conversation = (await server.post("/conversations", {}))["conversation"]["id"]
    said = await server.call("POST", f"/conversations/{conversation}/chat", {"content": content})
    return conversation, await server.settled(said.body["turn_id"])


async def test_a_child_sees_no_secret_of_ours(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> None:
    home = tmp_path / "home"
    with_ledger(home, ledger)
    with (home / "windlass.toml").open("a") as settings:
        settings.write('\n[servers.ledger.env]\nDECLARED = "for the child"\n')
    (home / "token").write_text(SECRETS["WINDLASS_TOKEN"])
    strict_llm.then(call("env_dump"), say("Seen."))
    async with windlass(home, env={**model_settings(strict_llm.base_url), **SECRETS}) as server:
        await server.running("ledger")
        await chat(server)
        [shown] = strict_llm.requests[-1].results
    seen = json.loads(unfenced(shown))
    assert seen["DECLARED"] == "for the child" and seen["PATH"]
    assert not [name for name in seen if name.startswith(("OPENAI_", "ZAI_", "LLM_", "WINDLASS_"))]
    assert not [secret for secret in (*SECRETS.values(), "key-of-the-test") if secret in shown]


async def test_the_model_reads_on_in_a_result_that_was_too_long_to_show(tmp_path: Path, ledger: Ledger) -> None:
    found: list[str] = []

    def read_on(request: RecordedRequest) -> Reply:
        match len(request.results):
            case 0:
                return call("big", chars=200_000)
            case 1:
                found.append(re.findall(r'result_id "([\w-]+)"', request.results[0])[0])
                return calls(
                    call("result_read", result_id=found[0], offset=100_000, length=64),
                    call("result_search", result_id=found[0], query="abcdef01"),
                )
            case _:
                return say("Read.")

    with_ledger(tmp_path / "home", ledger)
    async with StrictLLM(read_on) as llm, windlass(tmp_path / "home", env=model_settings(llm.base_url)) as server:
        await server.running("ledger")
        _, turn = await chat(server)
        part = await server.get(f"/results/{found[0]}")
        whole = part["text"]
        while part["next_offset"]:
            part = await server.get(f"/results/{found[0]}?offset={part['next_offset']}")
            whole += part["text"]
    assert (turn["outcome"], [one["state"] for one in turn["calls"]]) == ("answered", ["ok"] * 3)
    assert whole == "0123456789abcdef" * (200_000 // 16)
    first, piece, places = llm.requests[-1].results
    assert len(first) <= 16_000 and "200,000 characters" in first
    assert "0123456789abcdef" * 4 in piece and "bytes 100000 to 100064 of 200000" in piece
    assert "abcdef01" in places and llm.refused == []


@pytest.mark.parametrize(("kind", "mime"), [("image", "image/png"), ("audio", "audio/wav")])
async def test_pictures_and_sound_are_kept_whole_and_the_model_is_told(
    server: WindlassProcess, strict_llm: StrictLLM, kind: str, mime: str
) -> None:
    strict_llm.then(call("odd", kind=kind), say("Look."))
    conversation, turn = await chat(server)
    assert f"[{kind}, {mime}" in strict_llm.requests[-1].results[0]
    kept = f"/results/{turn['calls'][0]['result_id']}"
    [part] = json.loads((await server.get(kept))["text"])["content"]
    assert (part["type"], part["mimeType"]) == (kind, mime) and part["data"]
    await server.call("DELETE", f"/conversations/{conversation}")
    assert (await server.call("GET", kept)).status == 404


async def test_three_bad_tries_on_one_tool_end_that_path(server: WindlassProcess, strict_llm: StrictLLM) -> None:
    strict_llm.then(*(call("record", wrong=n) for n in range(3)), say("I cannot."))
    _, turn = await chat(server)
    assert (turn["outcome"], turn["error"]["code"]) == ("limit", "bad_arguments")
    assert [one["state"] for one in turn["calls"]] == ["error"] * 3
    assert strict_llm.requests[-1].tool_choice == "none"
    assert all("effect_id" in json.loads(unfenced(text))["error"] for text in strict_llm.requests[-1].results)


async def test_each_tool_may_have_a_time_of_its_own(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> None:
    home = tmp_path / "home"
    command, *args = ledger.argv()
    home.mkdir()
    (home / "windlass.toml").write_text(
        f"[servers.ledger]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\nenabled = '*'\n"
        "trusted = true\n[servers.ledger.tools.read_slow]\ntimeout_s = 0.2\n"
    )
    slow = call("read_slow", effect_id="a", gate=ledger.gate()), call("sleep_ms", ms=400)
    strict_llm.then(calls(*slow), say("One was too slow."))
    async with windlass(home, env=model_settings(strict_llm.base_url)) as server:
        await server.running("ledger")
        _, turn = await chat(server)
    assert [one["state"] for one in turn["calls"]] == ["error", "ok"]
    assert "within 0.2 s" in strict_llm.requests[-1].results[0]


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_a_tool_asks_a_person_and_its_clock_stands_still(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger, era: str
) -> None:
    """The call may take three seconds and the person takes longer: known by another call, which ends meanwhile."""
    home = tmp_path / "home"
    command, *args = ledger.argv("--era", era)
    home.mkdir()
    (home / "windlass.toml").write_text(
        f'[servers.ledger]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\ntools = "*"\n'
        'approval = "auto"\ntimeout_s = 3\n'
    )
    strict_llm.then(call("ask"), say("Hello Ada."))
    async with windlass(home, env=model_settings(strict_llm.base_url)) as server:
        await server.running("ledger")
        _, turn = await chat(server)
        assert turn["state"] == "awaiting_person"
        timed = await server.call("POST", "/servers/ledger/tools/call", {"name": "sleep_ms", "arguments": {"ms": 9000}})
        assert timed.status == 502 and "within 3 s" in timed.body["error"]["message"]
        path = f"/turns/{turn['id']}/calls/{turn['calls'][0]['id']}/input"
        await server.post(path, {"action": "accept", "content": {"name": "Ada", "number": 3}})
        done = await server.settled(turn["id"])
    assert done["outcome"] == "answered" and "Ada wants 3" in strict_llm.requests[-1].results[0]


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_a_question_outlives_the_server_where_the_era_allows_it(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger, era: str
) -> None:
    """In the stateless era the call goes on with the answer; in the other nobody knows how far it got."""
    home = tmp_path / "home"
    command, *args = ledger.argv("--era", era)
    home.mkdir()
    run = f"command = {json.dumps(command)}\nargs = {json.dumps(args)}"
    settings = f"[servers.ledger]\n{run}\ntools = '*'\napproval = 'auto'\n"
    (home / "windlass.toml").write_text(settings)
    strict_llm.then(call("ask", effect_id="a"), say("Hello Ada."))
    env = model_settings(strict_llm.base_url)
    async with windlass(home, env=env) as server:
        await server.running("ledger")
        _, asked = await chat(server)
        assert [one["kind"] for one in asked["pending_calls"]] == ["input"]
        await server.kill()
    async with windlass(home, env=env) as server:
        turn = await server.settled(asked["id"])
        [pending] = turn["pending_calls"]
        drawn = [one["state"] for one in turn["calls"]]
        path = f"/turns/{turn['id']}/calls/{pending['call_id']}"
        answer = {"action": "accept", "content": {"name": "Ada", "number": 3}}
        if era == "handshake":
            assert (pending["kind"], drawn) == ("unknown", ["unknown"])
            assert (await server.call("POST", f"{path}/input", answer)).status == 409
            await server.post(f"{path}/resolve", {"as": "skip"})
        else:
            assert pending["kind"] == "input" and "Who are you" in pending["question"]
            assert drawn == ["running"]
            await server.post(f"{path}/input", answer)
        done = await server.settled(turn["id"])
    assert done["outcome"] == "answered"
    assert [one["state"] for one in done["calls"]] == ["unknown" if era == "handshake" else "ok"]
    assert len([event for event in ledger.events() if event["event"] == "answered"]) == (era == "stateless")


async def test_a_turn_does_not_pay_for_the_size_of_the_catalogue(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    """A thousand tools over twenty servers: the same names after a restart, and a log no longer than with one."""
    home = tmp_path / "home"
    home.mkdir()
    command, *args = ledger.argv("--only", "echo", "--extra", "49")
    names: list[list[tuple[str, str]]] = []
    sizes: list[int] = []
    for servers in (1, 20, 20):
        one = f"command = {json.dumps(command)}\nargs = {json.dumps(args)}\n"
        (home / "windlass.toml").write_text("\n".join(f"[servers.s{n:02}]\n{one}" for n in range(servers)))
        strict_llm.then(call("echo", text="hello"), say("Done."))
        async with windlass(home, env=model_settings(strict_llm.base_url)) as server:
            await server.running(*(f"s{n:02}" for n in range(servers)))
            conversation = (await server.post("/conversations", {}))["conversation"]["id"]
            await server.post(f"/conversations/{conversation}/tools", {"server_id": "s00", "tool_name": "echo"})
            available = (await server.get(f"/conversations/{conversation}/tools/available"))["available_tools"]
            answer = await server.post(f"/conversations/{conversation}/chat", {"content": "go"})
            log = await server.get(f"/turns/{answer['turn_id']}/log")
        names.append([(tool["server_slug"], tool["name"]) for tool in available])
        sizes.append(len(json.dumps(log)))
    assert len(names[0]) == 50 and len(names[1]) == len(set(names[1])) == 1000
    assert names[1] == names[2]
    assert max(sizes) - min(sizes) < 100
