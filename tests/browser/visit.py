"""A person at the page: a window of a real browser on a real server, with everything it asked for written down."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Dialog, Locator, Page, expect

from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess
from windlass.testing import StrictLLM

PATIENCE_MS = 60_000.0
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 375, "height": 812}
# A card takes no click for its first 400 ms; only the page's own clock can tell when they are over.
PAST_THE_GUARD = """() => new Promise((done) => {
    const seen = performance.now();
    const look = () => performance.now() - seen > 400 ? done() : setTimeout(look, 20);
    look();
})"""
OWN_SCHEMES = ("data", "blob", "about")

expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Watch:
    """What a page must never do, noted as it does it."""

    origin: str
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def over(self, context: BrowserContext) -> None:
        context.on("request", lambda request: self._note_request(request.url))
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("console", self._note_console)
        context.on("dialog", self._note_dialog)

    def is_clean(self) -> None:
        assert self.outside == [], "the page asked another origin"
        assert self.errors == [], "the page had errors"
        assert self.dialogs == [], "the page opened a dialog"

    def _note_request(self, url: str) -> None:
        self.asked.append(url)
        if urlsplit(url).scheme not in OWN_SCHEMES and not url.startswith(self.origin + "/"):
            self.outside.append(url)

    def _note_console(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "Trusted" in message.text:
            self.errors.append(message.text)

    async def _note_dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        await dialog.dismiss()


@dataclass
class Visit:
    server: WindlassProcess
    context: BrowserContext
    page: Page
    watch: Watch

    @property
    def box(self) -> Locator:
        """The message box."""
        return self.page.locator("form").get_by_role("textbox", name="Message", exact=True)

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log", name="Chat")

    async def send(self, text: str) -> None:
        await self.box.fill(text)
        await self.box.press("Enter")

    async def go(self, path: str) -> None:
        await self.page.goto(self.server.url + path)
        await drawn(self.page)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def card(self, question: str) -> Locator:
        """A card that waits for a person."""
        return self.page.get_by_role("group", name=question)

    async def decide(self, question: str, button: str) -> None:
        """Press a button of a waiting card as a person does, not in the moment in which the card appeared."""
        card = self.card(question)
        await expect(card).to_be_visible()
        await self.past_the_guard()
        await card.get_by_role("button", name=button, exact=True).click()

    async def past_the_guard(self) -> None:
        await self.page.evaluate(PAST_THE_GUARD)

    def call(self, title: str) -> Locator:
        """The line of a call."""
        return self.log.locator(".call").filter(has_text=title)

    def ended(self, words: str) -> Locator:
        """The last line of a turn."""
        return self.log.locator("footer").filter(has_text=words)

    @property
    def conversation_id(self) -> str:
        return urlsplit(self.page.url).path.rpartition("/")[2]

    async def opened(self) -> str:
        """The id of the conversation, once the page shows one."""
        await self.page.wait_for_url("**/ui/c/*", timeout=PATIENCE_MS)
        return self.conversation_id

    async def messages(self) -> list[dict[str, Any]]:
        found = await self.server.get(f"/conversations/{self.conversation_id}/messages")
        return list(found["messages"])


@dataclass
class OpenedApp(Visit):
    """A visit to a server with a scripted model and the ledger's tools."""

    llm: StrictLLM
    ledger: Ledger


@asynccontextmanager
async def window(
    chromium: Browser, server: WindlassProcess, viewport: Mapping[str, int] | None = None, **options: Any
) -> AsyncIterator[tuple[BrowserContext, Page, Watch]]:
    """A browser of its own, signed in by the one-time URL. Leaving it checks what it did."""
    async with new_window(chromium, server.url, viewport, **options) as (context, page, watch):
        await page.goto(server.login_url)
        await drawn(page)
        yield context, page, watch


@asynccontextmanager
async def new_window(
    chromium: Browser, url: str, viewport: Mapping[str, int] | None = None, **options: Any
) -> AsyncIterator[tuple[BrowserContext, Page, Watch]]:
    """Nothing is opened in it yet; all it may ask for is below `url`."""
    watch = Watch(url)
    size = dict(viewport or WIDE)
    context = await chromium.new_context(viewport=size, reduced_motion="reduce", **options)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    context.set_default_navigation_timeout(PATIENCE_MS)
    watch.over(context)
    try:
        yield context, await context.new_page(), watch
    finally:
        await context.close()
    watch.is_clean()


async def drawn(page: Page) -> None:
    """Wait for the page itself: a browser says that it has loaded before anything is drawn, and keys would be lost."""
    await page.locator("#root > *").first.wait_for(state="attached")


Table = Mapping[str, object]


def write_settings(home: Path, tables: Mapping[str, Table]) -> None:
    """The operator's own file: what stands in it needs no confirmation."""
    home.mkdir(parents=True, exist_ok=True)
    lines = [line for name, table in tables.items() for line in (f"[{name}]", *_lines(table))]
    (home / "windlass.toml").write_text("\n".join(lines))


def ledger_table(ledger: Ledger, *options: str) -> Table:
    command, *args = ledger.argv(*options)
    return {"command": command, "args": args, "enabled": "*", "approval": "auto"}


def _lines(table: Table) -> list[str]:
    return [f"{name} = {json.dumps(value)}" for name, value in table.items()]
