"""Thirty secrets in every place that takes one; then everything that can be read is read, every error provoked, and
none of them is found: not in the database, the log, an export, a stream, a response or the data folder."""

import asyncio
import contextlib
import json
import os
import secrets
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp

from tests.kit.ledger_file import Ledger
from tests.kit.ledger_http import ledger_http
from tests.kit.windlass_process import PATIENCE_S, WindlassProcess
from tests.proof.figures import note
from windlass.api.routes import ROUTES
from windlass.testing import ChatRequest, StrictLLM, call, error, say
from windlass.testing.replies import Scripted

OWN_FILES = {"secrets.json", "token", "sessions", "windlass.toml", "key-file"}  # where secrets are meant to be


class Canaries(dict[str, str]):
    """Makes one for each name it is asked for."""

    def __missing__(self, name: str) -> str:
        self[name] = f"canary{len(self):02}x{secrets.token_hex(16)}"
        return self[name]


class Ears(WindlassProcess):
    """Keeps all it was told."""

    heard: list[str]

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        said = await super().call(method, path, body, **headers)
        self.heard.append(f"{method} {path}: {said.body} {dict(said.headers)}")
        return said


async def test_no_planted_secret_is_ever_found(tmp_path: Path, ledger: Ledger) -> None:
    canary = Canaries()
    async with StrictLLM(reply_for) as llm, ledger_http(ledger, "--bearer", canary["header of toml"]) as url:
        server = Ears(tmp_path / "home")
        server.heard = []
        _settings(server, canary, ledger, llm.base_url, url)
        await server.start()
        try:
            conversation = await _use(server, canary, ledger, llm.base_url)
            streams = await _streams(server, conversation)
            commands = await asyncio.to_thread(_commands, server)
            await _every_get(server, conversation)
            assert await server.stop() == 0
        finally:
            await server.kill()
    places = {
        "responses": "\n".join(server.heard),
        "streams": streams,
        "commands": commands,
        "log": server.log,
        **_files(server.home),
    }
    found = [
        f"{name} in {place}" for place, text in places.items() for name, secret in canary.items() if secret in text
    ]
    assert found == []
    assert len(canary) >= 30, sorted(canary)
    assert sum(map(len, places.values())) > 100_000
    note("canaries", count=len(canary))


def reply_for(request: ChatRequest) -> Scripted:
    """A model server that repeats the key it was given, a model that calls what prints its environment."""
    if request.user_text == "fail":
        return error(401, "invalid_api_key", f"Incorrect API key: {request.headers.get('authorization')}")
    if request.user_text == "break":
        return error(500, None, f"Trace: {request.headers.get('authorization')}")
    return say("Done.") if request.rounds else call("env_dump") + call("record", effect_id=request.user_text)


def _settings(server: WindlassProcess, canary: Canaries, ledger: Ledger, model: str, url: str) -> None:
    server.home.mkdir()
    (server.home / "key-file").write_text(canary["a key in a file"])
    command, *args = map(json.dumps, ledger.argv())
    file = json.dumps(f"file:{server.home / 'key-file'}")
    (server.home / "windlass.toml").write_text(
        f"""
        [limits]
        attempts = 2  # one failure that is tried again says as much as three

        [[providers]]
        name = "main"
        base_url = "{model}"
        model = "m"
        api_key = "env:OPENAI_API_KEY"
        [[providers]]
        name = "second"
        base_url = "{model}"
        model = "m"
        api_key = "{canary["a key in toml"]}"
        [[providers]]
        name = "third"
        base_url = "{model}"
        model = "m"
        api_key = {file}
        [servers.plain]
        command = {command}
        args = [{", ".join(args)}]
        tools = "*"
        approval = "auto"
        [servers.rich]
        command = {command}
        args = [{", ".join(args)}]
        env = {{ A = "{canary["env of toml"]}", B = "env:HOST_SECRET", C = {file} }}
        [servers.far]
        url = "{url}"
        headers = {{ Authorization = "Bearer {canary["header of toml"]}", X-Key = "{canary["second header"]}" }}
        [servers.farther]
        url = "{url}"
        headers = {{ Cookie = "{canary["cookie of toml"]}" }}
        [web_search]
        brave_key = "{canary["brave"]}"
        """
    )
    server.env = {
        "OPENAI_API_KEY": canary["the key of the environment"],
        "OPENAI_BASE_URL": model,  # nothing here may ask the real one
        "WINDLASS_TOKEN": canary["the access token"],
        "HOST_SECRET": canary["a secret of the host"],
        "AWS_SECRET_ACCESS_KEY": canary["aws"],
        "GITHUB_TOKEN": canary["github"],
        "ZAI_API_KEY": canary["zai"],
    }
    (server.home / "token").write_text(canary["the access token"])


async def _use(server: Ears, canary: Canaries, ledger: Ledger, model: str) -> str:
    await server.running("plain", "rich", "far")
    added = await _add_things(server, canary, ledger, model)
    conversation = str((await server.post("/conversations", {}))["conversation"]["id"])
    for text in ("hello", "fail", "break"):
        for name in ("main/m", "second/m", "third/m", f"{added}/m"):
            body = {"content": text, "model": name}
            said = await server.call("POST", f"/conversations/{conversation}/chat", body)
            assert said.status in (200, 202, 502), said
            with contextlib.suppress(KeyError, TypeError):
                await server.call("POST", f"/turns/{said.body['turn_id']}/stop", {})
    for path, wrong in _bad_requests(canary):
        assert (await server.call("POST", path, wrong)).status < 500
    return conversation


async def _add_things(server: Ears, canary: Canaries, ledger: Ledger, model: str) -> str:
    """Gives the id of a provider that can be asked."""
    provider = {"name": "api", "base_url": model, "api_key": canary["a key of the API"], "model": "m"}
    added = (await server.post("/providers", provider))["provider"]["id"]
    await server.call("POST", f"/providers/{added}/test", {})
    await server.call("PATCH", f"/providers/{added}", {"api_key": canary["a changed key"]})
    await server.call("POST", f"/providers/{added}/test", {})
    other = {"name": "dead", "base_url": "http://127.0.0.1:9/v1", "api_key": canary["a key of the dead"]}
    dead = (await server.post("/providers", other))["provider"]["id"]
    for verb in ("test", "models"):
        await server.call(
            "POST" if verb == "test" else "GET", f"/providers/{dead}/{verb}", {} if verb == "test" else None
        )
    command, *args = ledger.argv("--fault", "exit")
    env = {f"V{n}_KEY": canary[f"env {n} of the API"] for n in range(4)}
    made = await server.post("/servers", {"name": "mine", "command": command, "args": args, "env": env})
    await server.post("/servers/mine/confirm", {"argv": made["server"]["argv"]})
    await server.call("POST", "/servers/mine/start", {})
    await server.call("PATCH", "/servers/mine", {"env": {"V9_TOKEN": canary["a changed env"]}})
    headers = {f"X-{n}": canary[f"header {n} of the API"] for n in range(3)}
    await server.call("POST", "/servers", {"name": "web", "url": "http://127.0.0.1:9/mcp", "headers": headers})
    await server.call("POST", "/servers/web/start", {})
    listed = {
        "a": {
            "command": "x",
            "env": {"K_SECRET": canary["an imported env"], "password": canary["another imported env"]},
        },
        "b": {"url": "https://x.example/mcp", "headers": {"Authorization": canary["an imported header"]}},
    }
    await server.call("POST", "/servers/import", {"mcpServers": listed})
    session = await server.call("POST", "/session", {"token": canary["the access token"]})
    cookie = session.headers["Set-Cookie"].partition("=")[2].partition(";")[0]
    half = session.body["half"]
    # The one answer where they are given.
    server.heard = [text.replace(cookie, "").replace(half, "") for text in server.heard]
    canary["the session"], canary["the session's half"] = cookie, half
    return str(added)


def _bad_requests(canary: Canaries) -> list[tuple[str, object]]:
    return [
        ("/providers", {"name": "x", "base_url": "nonsense", "api_key": canary["a key in a bad request"]}),
        ("/providers", {"name": "x", "base_url": "http://x", "api_key": [canary["a key of a wrong type"]]}),
        ("/servers", {"name": "x", "command": "", "env": {"A": canary["env in a bad request"]}}),
        ("/servers", {"name": "x", "url": f"http://u:{canary['password in a url']}@x.example/mcp"}),
        ("/providers", {"name": "x", "base_url": f"http://u:{canary['password of a provider']}@x.example/v1"}),
        ("/session", {"token": canary["a guess"]}),
    ]


async def _streams(server: WindlassProcess, conversation: str) -> str:
    """All that a watcher of the conversation and of each turn is given."""
    text = ""
    turns = (await server.get(f"/conversations/{conversation}/turns"))["turns"]
    paths = [f"/conversations/{conversation}/events", *(f"/turns/{turn['id']}/events" for turn in turns)]
    headers = {"Authorization": f"Bearer {server.token}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        for path in paths:
            async with session.get(server.url + path) as answer:
                with contextlib.suppress(TimeoutError):
                    async for piece in _pieces(answer):
                        text += piece
    assert "turn_finished" in text
    return text


async def _pieces(answer: aiohttp.ClientResponse) -> AsyncIterator[str]:
    while piece := await asyncio.wait_for(answer.content.readany(), 0.5):
        yield piece.decode()


async def _every_get(server: Ears, conversation: str) -> None:
    turns = (await server.get(f"/conversations/{conversation}/turns"))["turns"]
    ids = {"{conversation_id}": conversation, "{turn_id}": turns[0]["id"], "{persona_id}": "assistant"}
    for server_id, provider in zip(
        ("plain", "rich", "far", "farther", "mine", "web"), await _providers(server), strict=False
    ):
        known = {**ids, "{server}": server_id, "{provider_id}": provider}
        for route in ROUTES:
            if route.method == "GET" and route.kind != "events":
                path = route.path
                for name, value in known.items():
                    path = path.replace(name, value)
                if "{" not in path:
                    await server.call("GET", path + ("?q=hello" if path.endswith("search") else ""))
    for form in ("json", "markdown"):
        await server.call("GET", f"/conversations/{conversation}/export?format={form}")
    for number in range(1, 3):
        await server.call("GET", f"/turns/{turns[0]['id']}/prompt?request={number}")


async def _providers(server: Ears) -> list[str]:
    found = [one["id"] for one in (await server.get("/providers"))["providers"]]
    return [*found, *found[:1] * 6][:6]


def _commands(server: WindlassProcess) -> str:
    """What the command line says of it, and a backup."""
    env = {"PATH": os.environ["PATH"], "WINDLASS_HOME": str(server.home), **server.env}
    if "PYTHONPATH" in os.environ:
        env["PYTHONPATH"] = os.environ["PYTHONPATH"]
    text = ""
    for words in (
        "doctor",
        "servers list --json",
        "models list --json",
        "conversations list --json",
        f"backup {server.home}/b",
    ):
        argv = [sys.executable, "-m", "windlass", *words.split()]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        text += done.stdout + done.stderr
    return text


def _files(home: Path) -> dict[str, str]:
    """Every file that is not there to hold secrets; of databases also what they hold when asked."""
    found: dict[str, str] = {}
    for path in home.rglob("*"):
        if path.is_file() and path.name not in OWN_FILES:
            found[str(path.relative_to(home))] = path.read_bytes().decode("latin-1")
    with contextlib.closing(sqlite3.connect(home / "windlass.db")) as db:
        found["rows"] = "\n".join(db.iterdump())
    assert (home / "secrets.json").stat().st_mode & 0o077 == 0
    return found
