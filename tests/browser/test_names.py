"""The page under other names than its address: through a real proxy with TLS, below a path that the proxy takes off or
leaves on, and over plain http in a network, where browsers send no Sec-Fetch headers and keep no Secure cookie."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.browser.test_first_run import DROPPED
from tests.browser.visit import OpenedApp, Table, drawn, ledger_table, new_window, write_settings
from tests.kit.ledger_file import Ledger
from tests.kit.ports import own_port
from tests.kit.proxies import needs_nginx, nginx
from tests.kit.windlass_process import model_settings, windlass
from windlass.testing import StrictLLM, call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
TALK = {"messages": [{"role": "user", "content": "Who was it?"}, {"role": "assistant", "content": "It was Ada."}]}
USUAL = """
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
"""


@needs_nginx
async def test_the_page_works_through_nginx_with_tls(chromium: Browser, tmp_path: Path, ledger: Ledger) -> None:
    upstream, port = own_port(), own_port()
    url = f"https://chat.test:{port}"
    server = {"public_url": url, "trusted_proxies": ["127.0.0.1"]}
    async with (
        nginx(tmp_path / "nginx", port, upstream, tls=True, more=USUAL),
        opened(chromium, tmp_path / "home", ledger, url, upstream, server) as app,
    ):
        await signs_in_by_token(app, f"{url}/ui/")
        await works(app, url)
        assert await cookie(app) == ("/", True)


@needs_nginx
async def test_the_page_works_below_a_path_that_nginx_takes_off(
    chromium: Browser, tmp_path: Path, ledger: Ledger
) -> None:
    """And with TLS, and with nothing said to nginx: it sends its own name of the server then, and no headers."""
    upstream, port = own_port(), own_port()
    url = f"https://chat.test:{port}/tools/windlass"
    async with (
        nginx(tmp_path / "nginx", port, upstream, tls=True, at="/tools/windlass/", path="/"),
        opened(chromium, tmp_path / "home", ledger, url, upstream, {"public_url": url}) as app,
    ):
        await signs_in_by_link(app, url)
        await works(app, url)
        assert await cookie(app) == ("/tools/windlass", True)


@needs_nginx
async def test_the_page_works_below_a_path_that_nginx_leaves_on(
    chromium: Browser, tmp_path: Path, ledger: Ledger
) -> None:
    upstream, port = own_port(), own_port()
    url = f"http://chat.test:{port}/windlass"
    async with (
        nginx(tmp_path / "nginx", port, upstream, at="/windlass/", more=USUAL),
        opened(chromium, tmp_path / "home", ledger, url, upstream, {"public_url": url}) as app,
    ):
        await signs_in_by_link(app, url)
        await works(app, url)
        assert await cookie(app) == ("/windlass", False)
        await app.page.goto(f"{url}/docs")
        await expect(app.page.get_by_role("heading", name="Windlass 0")).to_be_visible()


async def test_the_page_works_over_plain_http_under_an_allowed_name(
    chromium: Browser, tmp_path: Path, ledger: Ledger
) -> None:
    port = own_port()
    url = f"http://mybox.test:{port}"
    async with opened(chromium, tmp_path / "home", ledger, url, port, {"allow_hosts": ["mybox.test"]}) as app:
        await app.page.goto(app.server.login_url.replace("127.0.0.1", "mybox.test"))
        await works(app, url)
        assert await cookie(app) == ("/", False)


@asynccontextmanager
async def opened(
    chromium: Browser, home: Path, ledger: Ledger, url: str, port: int, server: Table
) -> AsyncIterator[OpenedApp]:
    tables = {"server": server, "servers.ledger": {**ledger_table(ledger), "approval": "ask"}}
    write_settings(home, tables)
    async with (
        StrictLLM() as llm,
        windlass(home, "--port", str(port), env=model_settings(llm.base_url)) as process,
    ):
        await process.running("ledger")
        async with new_window(chromium, url, ignore_https_errors=True) as (context, page, watch):
            yield OpenedApp(process, context, page, watch, llm, ledger)
    assert llm.refused == [], "the model server refused a request"


async def signs_in_by_token(app: OpenedApp, address: str) -> None:
    await app.page.goto(address)
    await app.page.get_by_label("Access token").fill(app.server.token)
    await app.button("Sign in").click()


async def signs_in_by_link(app: OpenedApp, url: str) -> None:
    link = next(line.split()[-1] for line in app.server.printed if f"{url}/?key=" in line)
    await app.page.goto(link)
    await drawn(app.page)


async def works(app: OpenedApp, url: str) -> None:
    """A turn whose tool is approved and watched while it runs, a reload, and a file brought in."""
    app.llm.then(call("record_slow", effect_id="e1", gate=app.ledger.gate()), say("Recorded."))
    await app.send("go")
    await app.decide("Allow Record slow?", "Allow once")
    await app.ledger.seen("started", "e1")
    await expect(app.button("Stop this call")).to_be_visible()  # the stream is not held back
    app.ledger.open()
    await expect(app.log.get_by_text("Recorded.")).to_be_visible()
    assert app.page.url.startswith(f"{url}/ui/c/")
    await app.page.reload()
    await expect(app.log.get_by_text("Recorded.")).to_be_visible()
    carried = await app.page.evaluate_handle(DROPPED, json.dumps(TALK))
    await app.page.dispatch_event("body", "drop", {"dataTransfer": carried})
    await expect(app.log.get_by_text("It was Ada.")).to_be_visible()
    await app.page.goto(f"{url}/ui/settings")  # a part of the page that is loaded when it is needed
    await expect(app.page.get_by_role("heading", name="Keyboard")).to_be_visible()


async def cookie(app: OpenedApp) -> tuple[str, bool]:
    [found] = await app.context.cookies()
    return found["path"], found["secure"]
