"""Why nothing moves, on every page: the reason of each wait, questions in other chats, and a server that is gone."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import OwnApp
from tests.browser.visit import OpenedApp, drawn
from tests.kit.ledger_file import Ledger
from windlass.testing import Gate, call, error, say, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

# What the browser would show on the desktop is written down, and nothing of it is asked for.
RECORD_NOTIFICATIONS = """
    window.shown = [];
    window.Notification = class {
        static permission = "granted";
        static requestPermission = async () => "granted";
        constructor(title, options) { window.shown.push(`${title}: ${options.body}`); window.latest = this; }
        close() {}
    };
"""


async def begin_elsewhere(app: OpenedApp, title: str) -> str:
    """A turn in a chat that no window shows."""
    made = await app.server.post("/conversations", {"title": title})
    id = str(made["conversation"]["id"])
    await app.page.evaluate(
        """async (id) => {
            const headers = {"content-type": "application/json", accept: "text/event-stream"};
            headers["x-windlass-session"] = localStorage.getItem("windlass.session");
            const body = JSON.stringify({content: "go"});
            const answer = await fetch(`/conversations/${id}/chat`, {method: "POST", headers, body});
            await answer.body.getReader().read();
        }""",
        id,
    )
    return id


async def shown_on_desktop(*pages: Page) -> list[str]:
    return [text for page in pages for text in await page.evaluate("() => window.shown")]


async def test_p9_every_chat_that_waits_names_host_seconds_and_its_place(app: OpenedApp) -> None:
    gate = Gate()
    app.llm.then(wait_for(gate) + say("One."), error(429, "1302", "slow down", {"Retry-After": "60"}))
    host = app.llm.base_url.split("/")[2]
    await app.send("go")
    line = app.log.locator(".live-line")
    await expect(line).to_have_text("")
    free = await line.bounding_box()
    await expect(line).to_contain_text(re.compile(rf"Waiting for glm-4.7, [3-9]\ss\..*{host}; giving up at 4:00\."))
    named = await line.bounding_box()
    gate.open()
    await expect(app.ended("Answered")).to_be_visible()
    assert free and named and free["height"] == named["height"], "its height is kept free before it is needed"
    await app.send("again")
    await expect(line).to_contain_text(
        re.compile(rf"{host} is limiting requests\. Retrying in (5[7-9]|60)\ss \(1 of 3\)\.")
    )
    await expect(line.get_by_role("status")).to_have_text(f"{host} is limiting requests. Retrying, 1 of 3.")
    await expect(app.page.get_by_text("Trying again")).to_have_count(0)
    await begin_elsewhere(app, "Second")
    await app.page.get_by_role("link", name="Notifications").click()
    rows = app.page.locator(".why > li")
    await expect(rows).to_have_count(2)
    await expect(rows.filter(has_text="Second")).to_contain_text(
        re.compile(rf"{host} is limiting requests\. Asking in \d+\ss\. Next in line\.")
    )
    await app.page.get_by_role("button", name="Stop Second").click()
    await expect(rows).to_have_count(1)
    await app.page.get_by_role("button", name="Show go").click()
    await expect(line).to_contain_text("is limiting requests.")
    await line.get_by_role("button", name="Stop", exact=True).click()
    await expect(app.ended("Stopped")).to_be_visible()


async def test_p9_a_silent_tool_and_a_starting_server_are_named(own_app: OwnApp, ledger: Ledger) -> None:
    starts = ledger.gate("starts")
    ledger.open("starts")
    async with own_app(options=("--start-gate", starts)) as app:
        slowly = call("read_slow", effect_id="a", gate=ledger.gate("slow"))
        app.llm.then(slowly, call("crash"), call("echo", text="x"), say("Done."))
        await app.send("go")
        line = app.log.locator(".live-line")
        await expect(line).to_contain_text(
            re.compile(r"No progress from Read slow for [3-9]\ss\. Gives up at 120\ss\.")
        )
        Path(starts).unlink()
        ledger.open("slow")
        await expect(line).to_contain_text(re.compile(r"Starting ledger, \d+\ss\. 1 call is waiting for it\."))
        ledger.open("starts")
        await expect(app.ended("Answered")).to_be_visible()


async def test_p9_a_question_in_another_chat_shows_at_once_and_a_dead_server_too(app: OpenedApp) -> None:
    await app.context.add_init_script(RECORD_NOTIFICATIONS)
    other = await app.context.new_page()
    for page in (app.page, other):
        await page.goto(app.server.url + "/ui/activity")
        await drawn(page)
        await expect(page.get_by_text("Nothing is waiting.")).to_be_visible()
        await expect(page.get_by_text("Connected", exact=True)).to_be_visible()
    app.llm.then(call("ask", effect_id="secret-argument"))
    await begin_elsewhere(app, "Draft notes")
    for page in (app.page, other):
        await expect(page).to_have_title("(1) Activity · Windlass")
        await expect(page.locator(".side .row").filter(has_text="Has a question")).to_be_visible()
        await expect(page.get_by_role("link", name="Notifications, 1 new")).to_be_visible()
    assert await shown_on_desktop(app.page, other) == ["Draft notes: Has a question."], "two windows tell it once"
    await expect(app.page.locator(".why > li")).to_contain_text("Has a question.")
    await app.server.kill()
    await expect(app.page.get_by_text(re.compile("^Disconnected since"))).to_have_count(2)
    await expect(app.page.get_by_text("Connected", exact=True)).to_have_count(0)
    await app.server.start()
    await expect(app.page.get_by_text("Connected", exact=True)).to_be_visible()
    await expect(app.page.get_by_text(re.compile("^Disconnected since"))).to_have_count(0)
    await app.page.locator(".bell-item.unread").first.click()
    await expect(app.page).to_have_url(re.compile("/ui/c/"))
    await expect(other.get_by_role("link", name="Notifications", exact=True)).to_be_visible()
