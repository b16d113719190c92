"""Where things stand: thread and composer in one box, panes that leave room, nothing over Send."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Route, expect

from tests.browser.visit import OpenedApp, Visit
from windlass.testing import call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

WIDTHS = (768, 1024, 1199, 1200, 1280, 1440, 1680, 1920)
LONG = "\n\n".join(f"Paragraph {n} of an answer that is longer than the window is high." for n in range(40))
EDGES = """() => [".composer", ".round > .body"].map((selector) => {
    const { left, right } = document.querySelector(selector).getBoundingClientRect();
    return [left, right];
})"""
SCROLLED = "() => document.querySelector('main .scroll').scrollTop"
DROP = """() => {
    const files = new DataTransfer();
    files.items.add(new File(["no JSON"], "notes.txt"));
    dispatchEvent(new DragEvent("drop", { dataTransfer: files }));
}"""


async def test_thread_and_composer_share_their_edges_beside_a_scrollbar_that_takes_room(app: OpenedApp) -> None:
    app.llm.then(say(LONG))
    await app.send("go")
    await expect(app.ended("Answered")).to_be_visible()
    bar = await app.page.evaluate(
        "() => { const b = document.querySelector('main .scroll'); return b.offsetWidth - b.clientWidth; }"
    )
    assert bar > 0, "the scrollbar takes no room, so this shows nothing"
    apart: dict[int, Any] = {}
    for width in WIDTHS:
        await app.page.set_viewport_size({"width": width, "height": 800})
        composer, thread = await app.page.evaluate(EDGES)
        apart[width] = max(abs(one - other) for one, other in zip(composer, thread, strict=True))
    assert {width: px for width, px in apart.items() if px > 0.5} == {}


async def test_typing_does_not_move_the_thread_and_the_focus_is_never_under_the_composer(app: OpenedApp) -> None:
    app.llm.then(say(LONG), call("echo", text="x"), say(LONG))
    await app.send("go")
    await expect(app.ended("Answered")).to_be_visible()
    await app.page.mouse.move(700, 300)
    await app.page.mouse.wheel(0, -600)
    await expect(app.button("Latest")).to_be_visible()
    before = await app.page.evaluate(SCROLLED)
    await app.box.press_sequentially("a few words")
    assert await app.page.evaluate(SCROLLED) == before
    await app.button("Latest").click()
    await app.send("again")
    await expect(app.ended("Answered")).to_have_count(2)
    await app.page.evaluate("() => document.querySelector('main .scroll').scrollTo(0, 0)")
    hidden = await app.page.evaluate(
        """() => [...document.querySelectorAll(".thread button")].filter((button) => {
            button.focus();
            const dock = document.querySelector(".dock").getBoundingClientRect();
            const { bottom, height } = button.getBoundingClientRect();
            return height > 0 && bottom > dock.top;
        }).map((button) => button.outerHTML)"""
    )
    assert hidden == []


async def test_the_inspector_leaves_the_chat_its_width(app: OpenedApp) -> None:
    app.llm.then(say("Done."))
    await app.send("go")
    await expect(app.ended("Answered")).to_be_visible()
    widths: dict[int, tuple[float, float]] = {}
    for width in (1280, 1680):
        await app.page.set_viewport_size({"width": width, "height": 800})
        alone = await app.page.evaluate("() => document.querySelector('main').clientWidth")
        await app.page.get_by_role("button", name="Inspect this turn").click()
        await expect(app.page.get_by_role("tab", name="Prompt sent")).to_be_visible()
        widths[width] = (alone, await app.page.evaluate("() => document.querySelector('main').clientWidth"))
        await app.page.keyboard.press("Escape")
        await expect(app.page.get_by_role("tab", name="Prompt sent")).to_have_count(0)
    assert widths == {1280: (1024, 1024), 1680: (1424, 800)}


async def test_a_message_about_a_dropped_file_does_not_cover_send(app: OpenedApp) -> None:
    for width in (375, 1440):
        await app.page.set_viewport_size({"width": width, "height": 800})
        await app.page.evaluate(DROP)
        await expect(app.page.get_by_text("Not imported.")).to_be_visible()
        send, note = await app.page.locator(".send").bounding_box(), await app.page.get_by_role("alert").bounding_box()
        assert send and note
        assert note["y"] + note["height"] <= send["y"]
        await app.button("Close").click()


SHIFTED = """() => new Promise((done) => {
    new PerformanceObserver((list) => done(list.getEntries().filter((entry) => !entry.hadRecentInput)))
        .observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done([]))));
}).then((entries) => [
    entries.reduce((sum, { value }) => sum + value, 0),
    entries.flatMap(({ sources }) => sources.map(({ node }) => node?.outerHTML?.slice(0, 80))),
])"""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
LISTS = ("conversations*", "servers", "providers", "permissions", "limits", "personas", "sessions", "tokens", "local*")
PAGES = {
    "": "Give a model tools, and watch it work.",
    "permissions": "Permissions",
    "servers": "Servers",
    "models": "Models",
    "settings": "Settings",
    "account": "Account",
    "activity": "Activity",
}


async def test_opening_a_page_moves_nothing_however_late_its_lists_come(demo: Visit) -> None:
    painted = asyncio.Event()

    async def hold(route: Route) -> None:
        await painted.wait()
        await route.continue_()

    for path in LISTS:
        await demo.page.route(f"{demo.server.url}/{path}", hold)
    for width in (375, 1440):
        await demo.page.set_viewport_size({"width": width, "height": 900})
        for page, heading in PAGES.items():
            painted.clear()
            await demo.go(f"/ui/{page}")
            await demo.page.evaluate(PAINTED)
            painted.set()
            await expect(demo.page.get_by_role("heading", name=heading, exact=True).first).to_be_visible()
            await expect(demo.page.locator("[aria-busy=true], .skeleton")).to_have_count(0)
            shift, moved = await demo.page.evaluate(SHIFTED)
            assert shift < 0.01, f"/ui/{page} at {width} moved {shift:.4f}: {moved}"
    await demo.page.unroute_all(behavior="ignoreErrors")


async def test_permissions_leave_room_for_what_they_apply_to(app: OpenedApp) -> None:
    await app.go("/ui/permissions")
    await app.page.get_by_role("button", name="Advanced").click()
    heads = app.page.get_by_role("columnheader", name="Applies to")
    widths: dict[int, float] = {}
    for width in (700, *WIDTHS):
        await app.page.set_viewport_size({"width": width, "height": 800})
        widths[width] = await heads.evaluate("head => head.clientWidth")
    assert {width: px for width, px in widths.items() if px < 150} == {}
