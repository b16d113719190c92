"""Turns of many steps: nothing moves while they run, they end on one screen, and every step can be reached."""

import asyncio
import os
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import OwnApp
from tests.browser.visit import PHONE, WIDE, OpenedApp, Visit
from windlass.testing import call, say, think, wait_for
from windlass.testing.replies import ScriptedReply

FULL = os.environ.get("SCALE") == "full"
pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(240)]

SIZES = (PHONE, {"width": 768, "height": 900}, WIDE, {"width": 1920, "height": 1080})
MOST_SHIFT = 0.02
ROUNDS = {"limits": {"rounds": 40}}
STEPS, FAILING = 40, (11, 27)
# Shifts that follow a key or a click within half a second are the person's own, so no turn may begin within it.
PAST_THE_INPUT = """() => new Promise((done) => {
    const seen = performance.now();
    const look = () => performance.now() - seen > 600 ? done() : setTimeout(look, 20);
    look();
})"""
WATCH = """() => {
    window.shifted ??= new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
        if (!entry.hadRecentInput) window.shifts.push(entry);
    }));
    window.shifts = [];
    window.shifted.observe({ type: "layout-shift", buffered: true });
}"""
SHIFT = """() => {
    window.shifted.takeRecords().forEach((entry) => window.shifts.push(entry));
    const { shifts } = window;
    const worst = shifts.toSorted((one, other) => other.value - one.value).slice(0, 3);
    return [
        shifts.reduce((sum, { value }) => sum + value, 0),
        worst.map(({ value, sources }) => [value, ...sources.map(({ node, previousRect, currentRect }) =>
            [node?.outerHTML?.slice(0, 60), previousRect.y, previousRect.height, currentRect.y, currentRect.height])]),
    ];
}"""
FITS = "() => { const box = document.querySelector('main .scroll'); return box.scrollHeight <= box.clientHeight; }"


async def test_a_turn_of_five_tools_moves_nothing_in_view(own_app: OwnApp) -> None:
    async with own_app(tables=ROUNDS) as app:
        for size in SIZES:
            await app.page.set_viewport_size(size)  # type: ignore[arg-type]
            await app.go("/ui/")
            await watch_from(app, "Look for five", begin := asyncio.Event(), (five_tools(begin), say(answer(8))))
            await expect(app.ended("Answered")).to_have_count(1)
            await shifted_little(app.page, f"five tools at {size['width']}")


@pytest.mark.skipif(not FULL, reason="which frames are painted depends on the load of the machine: part of the proof")
async def test_a_turn_of_forty_steps_moves_nothing_in_view(own_app: OwnApp) -> None:
    async with own_app(tables=ROUNDS) as app:
        for size in SIZES:
            await app.page.set_viewport_size(size)  # type: ignore[arg-type]
            await app.go("/ui/")
            begin, rest = asyncio.Event(), asyncio.Event()
            await watch_from(app, "Look for forty", begin, (*forty_steps(begin, rest), say(answer(12))))
            await app.decide("Allow Destroy?", "Allow once")
            await app.page.evaluate(PAST_THE_INPUT)
            rest.set()
            await expect(app.ended("Answered")).to_have_count(1)
            await shifted_little(app.page, f"forty steps at {size['width']}")


async def watch_from(app: OpenedApp, message: str, begin: asyncio.Event, replies: tuple[ScriptedReply, ...]) -> None:
    """Sends, and lets the model speak once nothing that happens is the person's own."""
    app.llm.then(*replies)
    await app.send(message)
    await app.opened()
    await app.page.evaluate(PAST_THE_INPUT)
    await app.page.evaluate(WATCH)
    await app.page.evaluate("() => { window.shifts = []; }")
    begin.set()


async def shifted_little(page: Page, what: str, most: float = MOST_SHIFT) -> None:
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shift, moved = await page.evaluate(SHIFT)
    assert shift < most, f"{what} moved {shift:.4f}: {moved}"


def five_tools(begin: asyncio.Event) -> ScriptedReply:
    return (
        wait_for(begin)
        + think("The person wants pages.\n\nSo I look.")
        + call("echo", text="1")
        + call("progress", effect_id="p", steps=3)
        + call("fail", message="no such shelf")
        + call("odd", kind="structured")
        + call("echo", text="2")
    )


def forty_steps(begin: asyncio.Event, rest: asyncio.Event) -> Iterator[ScriptedReply]:
    """Rounds of three and of one, some with a text or a thought; the thirtieth step asks first."""
    yield wait_for(begin) + say("I look at the pages.") + call("echo", text="0") + call("echo", text="1")
    for n in range(2, 29, 3):
        text = say("The next pages, one after the other.") if n % 2 else think("What was read so far?\n\nMore.")
        yield text + step(n) + step(n + 1) + step(n + 2)
    yield call("destroy", effect_id=f"d-{id(begin)}")
    yield wait_for(rest) + step(30)
    for n in range(31, STEPS):
        yield step(n)


def step(n: int) -> ScriptedReply:
    return call("fail", message="no such page") if n in FAILING else call("echo", text=f"page {n}")


def answer(paragraphs: int) -> str:
    return "\n\n".join(f"Paragraph {n}: three are dead and the others are fine." for n in range(paragraphs))


async def test_forty_steps_are_on_one_screen_and_each_can_be_reached(own_app: OwnApp) -> None:
    async with own_app(tables=ROUNDS) as app:
        begin, rest = asyncio.Event(), asyncio.Event()
        begin.set()
        app.llm.then(*forty_steps(begin, rest), say("Two are dead."))
        await app.send("go")
        block = app.log.get_by_role("region", name="Steps")
        await expect(block.get_by_text("1 call needs your approval")).to_be_visible()
        await expect(block.get_by_text("30 steps")).to_be_visible()
        await expect(block.get_by_text("2 failed")).to_be_visible()
        assert await app.page.evaluate(FITS) is False, "the card fits, so nothing shows that the block stays in view"
        height = await block.evaluate("element => element.offsetHeight")
        await app.decide("Allow Destroy?", "Allow once")
        rest.set()
        await expect(app.ended("Answered")).to_be_visible()
        await app.page.reload()
        await expect(block.get_by_role("button", name="40 steps in 21 rounds")).to_be_visible()
        await expect(block.get_by_text("Echo \u00d737, Fail \u00d72, Destroy")).to_be_visible()
        assert await block.evaluate("element => element.offsetHeight") == height == 100
        assert await app.page.evaluate(FITS), "forty steps do not fit on one screen"
        await expect(app.log.get_by_text("no such page", exact=True)).to_have_count(2)
        await reach_a_step(app)


async def reach_a_step(app: Visit) -> None:
    """By keyboard alone: one tab stop, arrows, Enter."""
    strip = app.log.get_by_role("toolbar", name="40 steps")
    await expect(strip.locator("[tabindex='0']")).to_have_count(1)
    await strip.locator("[tabindex='0']").focus()
    await app.page.keyboard.press("End")
    await app.page.keyboard.press("Home")
    for _ in range(FAILING[0]):
        await app.page.keyboard.press("ArrowRight")
    failed = strip.get_by_role("button", name="Step 12, Fail, failed")
    await expect(failed).to_be_focused()
    await app.page.keyboard.press("ArrowLeft")
    await app.page.keyboard.press("Enter")
    row = app.call("page 10").get_by_role("button", name="Echo")
    await expect(row).to_be_focused()
    await expect(row).to_have_attribute("aria-expanded", "true")
    await expect(row).to_be_in_viewport()
