"""Real proxies, set up as docs/proxies.md says: its own lines run here, with ports and files of the test's."""

import asyncio
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.browser.visit import ledger_table, write_settings
from tests.kit.ledger_file import Ledger
from tests.kit.ports import own_port
from tests.kit.proxies import (
    caddy_with,
    haproxy_with,
    make_certificate,
    needs_caddy,
    needs_haproxy,
    needs_nginx,
    nginx_with,
)
from tests.kit.windlass_process import WindlassProcess, model_settings, windlass
from tests.web.kit import Events
from windlass.testing import StrictLLM, call, say

PAGE = (Path(__file__).parents[2] / "docs" / "proxies.md").read_text()
NAME = "chat.example.org"
IN_FRONT = {"nginx": nginx_with, "haproxy": haproxy_with, "caddy": caddy_with}


def snippet(language: str, number: int = 0) -> str:
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found[number]


def adapted(text: str, folder: Path, port: int, upstream: int) -> str:
    """Only what differs from machine to machine: ports, files, and for Caddy a certificate that it need not fetch."""
    text = text.replace("127.0.0.1:8420", f"127.0.0.1:{upstream}").replace("/etc/ssl/", f"{folder}/")
    text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace("bind :443", f"bind 127.0.0.1:{port}")
    return text.replace(f"{NAME} {{", f"https://{NAME}:{port} {{\n    tls {folder}/tls.crt {folder}/tls.key")


def certificates(folder: Path) -> None:
    folder.mkdir()
    make_certificate(folder)
    both = (folder / "tls.crt").read_text() + (folder / "tls.key").read_text()
    (folder / "chat.pem").write_text(both)  # haproxy reads both from one file
    (folder / "chat.key").write_text((folder / "tls.key").read_text())


@pytest.mark.parametrize(
    "proxy",
    [
        pytest.param("nginx", marks=needs_nginx),
        pytest.param("haproxy", marks=needs_haproxy),
        pytest.param("caddy", marks=needs_caddy),
    ],
)
async def test_a_signed_in_browser_streams_a_turn_through_each_proxy_of_the_guide(
    proxy: str, tmp_path: Path, ledger: Ledger
) -> None:
    port, upstream = own_port(), own_port()
    url = f"https://{NAME}:{port}"
    certificates(tmp_path / "proxy")
    text = adapted(snippet(proxy), tmp_path / "proxy", port, upstream)
    async with (
        opened(tmp_path / "home", ledger, upstream, url, trusted_proxies=["127.0.0.1"]) as (process, llm),
        IN_FRONT[proxy](tmp_path / "proxy", port, text),
    ):
        await check_works(url, process, llm, ledger)


@needs_nginx
@needs_haproxy
async def test_behind_two_proxies_of_which_the_inner_one_is_wrong_about_the_scheme(
    tmp_path: Path, ledger: Ledger
) -> None:
    outer, inner, upstream = own_port(), own_port(), own_port()
    url = f"https://{NAME}:{outer}/windlass"
    certificates(tmp_path / "proxy")
    location = re.search(r"proxy_pass.*?\n    }", snippet("nginx"), re.DOTALL)
    assert location
    wrong = f"server {{ listen 127.0.0.1:{inner}; location /windlass/ {{ {location[0]} }}"
    async with (
        opened(tmp_path / "home", ledger, upstream, url, trusted_proxies=["127.0.0.1"]) as (process, llm),
        haproxy_with(tmp_path / "proxy", outer, adapted(snippet("haproxy"), tmp_path / "proxy", outer, inner)),
        nginx_with(tmp_path / "proxy", inner, adapted(wrong, tmp_path / "proxy", 0, upstream)),
    ):
        await check_works(url, process, llm, ledger)


@needs_nginx
@pytest.mark.parametrize("number", [0, 1], ids=["left on", "taken off"])
async def test_both_ways_of_the_guide_to_serve_below_a_path(number: int, tmp_path: Path, ledger: Ledger) -> None:
    port, upstream = own_port(), own_port()
    url = f"http://{NAME}:{port}/windlass"
    (tmp_path / "proxy").mkdir()
    location = adapted(snippet("nginx", 1).splitlines()[number], tmp_path, port, upstream)
    server = f"server {{ listen 127.0.0.1:{port}; {location}\n }}"
    async with (
        opened(tmp_path / "home", ledger, upstream, url) as (process, llm),
        nginx_with(tmp_path / "proxy", port, server),
    ):
        await check_works(url, process, llm, ledger)
        local = f"http://127.0.0.1:{port}/windlass"
        assert '"status": "ok"' in await command(process, "--url", local, "api", "GET", "/health")
        llm.then(say("By the OpenAI client."))
        async with aiohttp.ClientSession() as session:
            body = {"model": "glm-4.7", "messages": [{"role": "user", "content": "Hello"}]}
            bearer = {"Authorization": f"Bearer {process.token}"}
            async with session.post(f"{local}/v1/chat/completions", json=body, headers=bearer) as answer:
                assert (await answer.json())["choices"][0]["message"]["content"] == "By the OpenAI client."


@asynccontextmanager
async def opened(
    home: Path, ledger: Ledger, port: int, url: str, **server: Any
) -> AsyncIterator[tuple[WindlassProcess, StrictLLM]]:
    write_settings(home, {"server": {"public_url": url, **server}, "servers.ledger": ledger_table(ledger)})
    async with (
        StrictLLM() as llm,
        windlass(home, "--port", str(port), env=model_settings(llm.base_url)) as process,
    ):
        await process.running("ledger")
        yield process, llm
    assert llm.refused == []


async def check_works(url: str, process: WindlassProcess, llm: StrictLLM, ledger: Ledger) -> None:
    """What the page does: it signs in, chats with a tool and reads the stream while the tool still runs."""
    origin = re.match(r"https?://[^/]+", url)
    assert origin
    secure = url.startswith("https")
    async with AsyncExitStack() as stack:
        jar = aiohttp.CookieJar()
        connector = aiohttp.TCPConnector(resolver=Here(), ssl=False)
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector, cookie_jar=jar))
        sent = {"Origin": origin[0]} | ({"Sec-Fetch-Site": "same-origin"} if secure else {})

        async def post(path: str, body: object, **headers: str) -> Any:
            async with session.post(url + path, json=body, headers={**sent, **headers}) as answer:
                assert answer.status < 300, await answer.text()
                return await answer.json()

        async with session.get(f"{url}/ui/") as page:
            assert page.status == 200 and "<html" in await page.text()
        half = {"x-windlass-session": (await post("/session", {"token": process.token}))["half"]}
        [cookie] = jar
        assert bool(cookie["secure"]) == secure and url.endswith(cookie["path"].rstrip("/"))
        id = (await post("/conversations", {}, **half))["conversation"]["id"]
        body = {"server_id": "ledger", "tool_name": "read_slow", "approval": "auto"}
        await post(f"/conversations/{id}/tools", body, **half)
        llm.then(call("read_slow", effect_id="e1", gate=ledger.gate()), say("Read."))
        accept = {**sent, **half, "Accept": "text/event-stream"}
        chat = session.post(f"{url}/conversations/{id}/chat", json={"content": "Go"}, headers=accept)
        stream = await stack.enter_async_context(Events(chat))
        await stream.until("tool_started")  # a stream that is held back would not get here
        ledger.open()
        await stream.until("turn_finished")


class Here(AbstractResolver):
    """Every name is this machine's."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=0)]

    async def close(self) -> None:
        pass


async def command(process: WindlassProcess, *words: str) -> str:
    env = {"PATH": "/usr/bin", "HOME": str(process.home), "WINDLASS_HOME": str(process.home)}
    argv = (sys.executable, "-m", "windlass", *words)
    running = await asyncio.create_subprocess_exec(*argv, env=env, stdout=asyncio.subprocess.PIPE)
    out, _ = await running.communicate()
    return out.decode()
