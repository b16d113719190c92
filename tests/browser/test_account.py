"""Account and models as a person uses them: sessions, tokens, confirming, values edited in place, a dead provider."""

import re

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import OwnApp
from tests.browser.visit import OpenedApp, drawn, new_window
from windlass.testing import StrictLLM

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(180)]


async def test_a_token_is_made_after_confirming_shown_once_and_refused_once_revoked(app: OpenedApp) -> None:
    await app.server.stop()
    await app.server.start()  # a session lives on, its confirmation does not
    await app.go("/ui/account")
    await app.button("New token…").click()
    form = app.page.get_by_role("form", name="New token")
    await form.get_by_label("Name").fill("ci")
    await form.get_by_role("button", name="Make token").click()
    dialog = app.page.get_by_role("dialog", name="Confirm it’s you")  # noqa: RUF001
    await expect(dialog).to_contain_text("To make an access token")
    await dialog.get_by_label("Access token").fill("000000")
    await app.page.keyboard.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text("Not confirmed. The digits are wrong.")
    await app.page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(form.get_by_label("Name")).to_have_value("ci")
    await form.get_by_role("button", name="Make token").click()
    await dialog.get_by_label("Access token").fill(app.server.token)
    await app.page.keyboard.press("Enter")

    secret = await app.page.locator(".secret code").inner_text()
    bearer = {"Authorization": f"Bearer {secret}"}
    assert (await app.server.call("GET", "/conversations", **bearer)).status == 200
    await app.button("Done").click()
    await app.page.reload()
    row = app.page.get_by_role("listitem").filter(has_text="ci")
    await expect(row).to_contain_text("can’t approve")  # noqa: RUF001
    assert secret not in await app.page.content()
    await row.get_by_role("button", name="Revoke…").click()
    await row.get_by_role("button", name="Revoke", exact=True).click()
    await expect(row).to_have_count(0)
    assert (await app.server.call("GET", "/conversations", **bearer)).status == 401


async def test_another_browser_that_is_signed_out_here_loses_its_access(app: OpenedApp, chromium: Browser) -> None:
    link = (await app.server.post("/session/keys"))["url"]
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
    async with new_window(chromium, app.server.url, user_agent=agent) as (_, other, _):
        await other.goto(link)
        await drawn(other)
        await expect(other.get_by_role("textbox", name="Message", exact=True)).to_be_visible()
        await app.go("/ui/account")
        await expect(app.page.get_by_role("listitem").filter(has_text="This browser")).to_contain_text("now")
        await app.button("Sign out Firefox on Linux").click()
        await expect(app.button("Sign out Firefox on Linux")).to_have_count(0)
        await other.reload()
        await expect(other.get_by_role("button", name="Sign in")).to_be_visible()


async def test_a_value_is_edited_in_place_and_a_dead_provider_never_becomes_the_default(own_app: OwnApp) -> None:
    async with StrictLLM(api_key="right") as picky, own_app(tables={"limits": {"rounds": 20}}) as app:
        fields = {"name": "Second", "base_url": picky.base_url, "api_key": "wrong", "model": "m"}
        await app.server.post("/providers", fields)
        await app.server.post("/providers", {"name": "Third", "base_url": picky.base_url, "api_key": "right"})
        await app.go("/ui/models")
        second = app.page.get_by_role("region", name="Second")
        await expect(second.get_by_text(re.compile("rejected the API key"))).to_be_visible()
        await second.get_by_role("button", name="Make default").click()
        await expect(second.get_by_role("alert")).to_contain_text("rejected the API key")
        await expect(second.get_by_text("default", exact=True)).to_have_count(0)
        third = app.page.get_by_role("region", name="Third")
        await expect(third.get_by_role("button", name="Choose a model first", exact=True)).to_be_disabled()

        value = second.get_by_role("button", name=re.compile("^Temperature: "))
        await value.focus()
        await app.page.keyboard.press("Enter")
        await app.page.keyboard.type("0.9")
        await app.page.keyboard.press("Escape")
        await expect(value).to_be_focused()
        await app.page.keyboard.press("Enter")
        await app.page.keyboard.type("0.4")
        await app.page.keyboard.press("Enter")
        await expect(second.get_by_text("Saved", exact=True)).to_be_visible()
        await expect(second.get_by_role("button", name="Temperature: 0.4")).to_be_focused()

        await second.get_by_role("button", name="Update key").click()
        await expect(second.get_by_label("Key")).to_be_focused()
        await app.page.keyboard.type("right")
        await app.page.keyboard.press("Enter")
        await second.get_by_role("button", name="Make default").click()
        await expect(second.get_by_text("default", exact=True)).to_be_visible()
        first = app.page.get_by_role("region").filter(has_text="edit it there").first
        await expect(first.get_by_role("button", name=re.compile("^Temperature"))).to_have_count(0)

        await app.go("/ui/settings")
        limits = app.page.get_by_role("region", name="Limits")
        await expect(limits.get_by_text("Set in windlass.toml; edit it there")).to_be_visible()
        await expect(limits.get_by_role("button", name=re.compile("^Max rounds"))).to_have_count(0)
        await limits.get_by_role("button", name=re.compile("^Stall timeout: 4.min")).focus()
        await app.page.keyboard.press("Enter")
        await app.page.keyboard.type("90 s")
        await app.page.keyboard.press("Enter")
        await expect(limits.get_by_text("Saved", exact=True)).to_be_visible()
        kept = {one["name"]: one["value"] for one in (await app.server.get("/limits"))["limits"]}
        assert (kept["rounds"], kept["silence_s"]) == (20, 90)
