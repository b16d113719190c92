"""Every screen: no serious finding of an accessibility audit in either theme, and nothing wider than a phone."""

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.async_api import Page

from tests.browser.conftest import ROOT, OwnApp
from tests.browser.screens import OVERFLOW, first_run_screens, server_screens, turn_screens
from tests.browser.visit import PHONE, WIDE, OpenedApp, Visit
from tests.proof.figures import note

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(240)]

AXE = (ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js").read_text()
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
AUDIT = """async () => {
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}"""


async def findings(page: Page) -> list[str]:
    """In each theme, on a phone and wide; and what does not fit on the phone."""
    found: list[str] = []
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(AXE)
    for size in (PHONE, WIDE):
        await page.set_viewport_size(size)  # type: ignore[arg-type]
        for theme in THEMES:
            await page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            audited: Any = await page.evaluate(AUDIT)
            found += [f"{theme} at {size['width']}: {one}" for one in audited]
        if size is PHONE:
            found += [f"too wide: {one}" for one in await page.evaluate(OVERFLOW)]
    return found


async def test_the_first_run_and_the_pages_around_it(demo: Visit) -> None:
    found = {screen: await findings(demo.page) async for screen in first_run_screens(demo)}
    assert len(found) == 10
    note("screens", count=len(found))
    assert {screen: those for screen, those in found.items() if those} == {}


async def test_a_turn_its_inspector_and_its_approvals(app: OpenedApp) -> None:
    found = {screen: await findings(app.page) async for screen in turn_screens(app)}
    assert len(found) == 9
    note("screens", count=len(found))
    assert {screen: those for screen, those in found.items() if those} == {}


async def test_servers_drafts_and_their_forms(own_app: OwnApp, tmp_path: Path) -> None:
    found = {screen: await findings(app.page) async for app, screen in server_screens(own_app, tmp_path)}
    assert len(found) == 3
    note("screens", count=len(found))
    assert {screen: those for screen, those in found.items() if those} == {}


PLANT = """() => {
    const [button, wide] = ["button", "p"].map((name) => document.createElement(name));
    wide.style.width = "3000px";
    wide.textContent = "wide";
    document.querySelector("main").append(button, wide);
}"""


async def test_the_audit_sees_what_is_wrong_and_what_is_too_wide(demo: Visit) -> None:
    await demo.page.evaluate(PLANT)
    found = " ".join(await findings(demo.page))
    audits = [f"{theme} at {size['width']}: button-name" for theme in THEMES for size in (PHONE, WIDE)]
    assert all(audit in found for audit in audits) and "too wide" in found
