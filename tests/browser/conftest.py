"""One Chromium for each worker, one window for each test; server, model and tools are each test's own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.browser.visit import OpenedApp, Table, Visit, ledger_table, window, write_settings
from tests.kit.ledger_file import Ledger
from tests.kit.ports import own_port
from tests.kit.windlass_process import model_settings, windlass
from windlass.testing import StrictLLM
from windlass.testing.scripts import Script

ROOT = Path(__file__).parents[2]
# The two lists below the address bar are pages of their own, built anew for every window: twice the work of our page.
# Chromium heeds only the last flag of this name, so what Playwright turns off is named again.
TURNED_OFF = """
    WebUIOmniboxPopup WebUIOmniboxAimPopup
    AimEnabled AvoidCorsURLLoaderRestartOnRedirect AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose
    HttpsFirstBalancedModeAutoEnable HttpsUpgrades LensOverlay MediaRouter NetworkTimeServiceQuerying OptimizationHints
    PaintHolding PreconnectToSearch ThirdPartyStoragePartitioning
"""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--host-resolver-rules=MAP *.test 127.0.0.1",  # for the page under another name than its address
    f"--disable-features={','.join(TURNED_OFF.split())}",
]
OwnApp = Callable[..., AbstractAsyncContextManager[OpenedApp]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    finding = await asyncio.create_subprocess_exec(ROOT / "scripts" / "find-chromium", stdout=asyncio.subprocess.PIPE)
    found, _ = await finding.communicate()
    assert finding.returncode == 0, "No Chromium here: run make test-tools."
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found.decode().strip(),
            args=FLAGS,
            ignore_default_args=["--hide-scrollbars"],  # most people have bars that take room
        )
        yield browser
        await browser.close()


@pytest.fixture
def own_app(chromium: Browser, tmp_path: Path, ledger: Ledger) -> OwnApp:
    """An app with settings of the test's own: `server` for the ledger's, whose tools run but for the one that destroys;
    `options` for its command, and any other table of the settings file by its name."""

    @asynccontextmanager
    async def made(
        server: Table | None = None,
        options: tuple[str, ...] = (),
        tables: Mapping[str, Table] | None = None,
        script: Script = (),
    ) -> AsyncIterator[OpenedApp]:
        own = {**ledger_table(ledger, *options), **(server or {})}
        asks = {"servers.ledger.tools.destroy": {"approval": "ask"}}
        write_settings(tmp_path / "home", {"servers.ledger": own, **asks, **(tables or {})})
        port = ("--port", str(own_port()))  # one that it can come back on
        async with (
            StrictLLM(script) as llm,
            windlass(tmp_path / "home", *port, env=model_settings(llm.base_url)) as process,
        ):
            await process.running("ledger")
            async with window(chromium, process) as (context, page, watch):
                yield OpenedApp(process, context, page, watch, llm, ledger)
        assert llm.refused == [], "the model server refused a request"

    return made


@pytest_asyncio.fixture(loop_scope="session")
async def app(own_app: OwnApp) -> AsyncIterator[OpenedApp]:
    async with own_app() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def demo(chromium: Browser, tmp_path: Path) -> AsyncIterator[Visit]:
    """No key, no model: the first run."""
    async with windlass(tmp_path / "home", verb="demo") as server, window(chromium, server) as (context, page, watch):
        await server.running("demo")
        yield Visit(server, context, page, watch)
