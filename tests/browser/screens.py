"""Every main screen of the page, one after the other, for whoever wants to look at each of them."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

from playwright.async_api import expect

from tests.browser.conftest import OwnApp
from tests.browser.visit import OpenedApp, Visit, ledger_table
from tests.kit.ledger_file import Ledger
from windlass.testing import call, say, think

ANSWER = """Found **two** pages [1], one with a `very_long_name_that_does_not_break_anywhere_at_all_in_this_column`.

| name | size | a column that is rather wide for a phone |
|---|---:|---|
| alpha | 1,204 | https://example.org/a/very/long/path/that/goes/on/and/on/without/a/single/break |

```python
def a_function_with_a_long_line(one: int, two: int, three: int) -> str: return "longer than any phone is wide"
```

1. See [the page](https://example.org/one) and ![a picture](https://example.org/two.png)."""

# What may scroll sideways inside its own box; all else must fit.
OVERFLOW = """() => {
    const own = "pre, .pre, code, .tbl, .table-box, .result-table, .sources, textarea, input, .waterfall, .diff, .argv";
    const wide = [...document.querySelectorAll("*")].filter((element) =>
        element.scrollWidth > element.clientWidth + 1 && !element.closest(own) &&
        ["auto", "scroll"].includes(getComputedStyle(element).overflowX));
    const edge = (element) =>
        Math.min(innerWidth, element.closest(".grant, .panel, .ask-card")?.getBoundingClientRect().right ?? innerWidth);
    const out = [...document.querySelectorAll("button, a, input, textarea, h1, h2, h3, p")].filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width > 1 && box.height > 1 && !element.closest(own) && !element.closest(".skip, .vh") &&
            (box.right > edge(element) + 1 || box.left < -1);
    });
    const page = document.scrollingElement.scrollWidth > innerWidth ? ["the page itself"] : [];
    return [...page, ...[...wide, ...out].map((element) => element.outerHTML.slice(0, 160))];
}"""


async def first_run_screens(demo: Visit) -> AsyncIterator[str]:
    """Each is on the page when its name is given."""
    await expect(demo.page.get_by_text("Demo mode.")).to_be_visible()
    yield "first run"
    await demo.send('/search_docs query="approval"')
    await expect(demo.ended("Answered")).to_be_visible()
    yield "an answer with sources"
    await demo.page.get_by_role("button", name=re.compile("^Tools: ")).click()
    await expect(demo.page.get_by_role("checkbox", name="Calculator")).to_be_visible()
    yield "the tools picker"
    await demo.page.keyboard.press("Escape")
    await demo.go("/ui/models")
    await expect(demo.page.get_by_role("heading", name="Models", exact=True)).to_be_visible()
    yield "models"
    await demo.go("/ui/activity")
    await expect(demo.page.get_by_text("Nothing is waiting.")).to_be_visible()
    yield "activity"
    await demo.go("/ui/permissions")
    await demo.page.get_by_role("button", name="Advanced").click()
    await demo.page.get_by_role("button", name="Test", exact=True).click()
    await expect(demo.page.get_by_text(re.compile("^This call"))).to_be_visible()
    yield "permissions"
    await demo.go("/ui/settings")
    await expect(demo.page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    await expect(demo.page.get_by_role("heading", name="About", exact=True)).to_be_visible()
    yield "settings"
    await demo.go("/ui/account")
    await expect(demo.page.get_by_text("This browser", exact=True)).to_be_visible()
    await demo.button("New token…").click()
    await demo.page.get_by_label("Name").fill("ci")
    yield "account, a token being made"
    await demo.button("Make token").click()
    await expect(demo.button("Done")).to_be_visible()
    yield "account, a new token"
    await demo.context.clear_cookies()
    await demo.page.reload()
    await expect(demo.button("Sign in")).to_be_visible()
    yield "sign in"


async def turn_screens(app: OpenedApp) -> AsyncIterator[str]:
    app.llm.then(
        think("The person wants pages.\n\nSo I look.")
        + call("echo", text="https://example.org/one https://example.org/two")
        + call("fail", message="no such shelf")
        + call("odd", kind="structured"),
        say(ANSWER),
        call("destroy", effect_id="e1") + call("destroy", effect_id="e2"),
    )
    await app.send("Look for two pages,\nplease")
    await expect(app.ended("Answered")).to_be_visible()
    await app.log.get_by_role("button", name=re.compile("Thought for")).click()
    yield "a finished turn"
    await app.page.get_by_role("button", name="Inspect this turn").click()
    inspector = app.page.get_by_label("Turn inspector").get_by_role("tab", name="Prompt sent")
    await expect(inspector).to_be_visible()
    yield "the inspector"
    await app.page.get_by_role("tab", name=re.compile("(Raw|Parsed) reply")).click()
    yield "the inspector, raw reply"
    await app.page.get_by_role("tab", name="Events").click()
    yield "the inspector, events"
    await app.page.keyboard.press("Escape")
    await app.send("Now destroy it")
    await expect(app.card("Allow Destroy?")).to_be_visible()
    yield "an approval"
    await app.decide("Allow Destroy?", "Always allow…")
    await expect(app.page.get_by_role("radio", name="Only when")).to_be_checked()
    yield "a grant about to be saved"
    await app.page.keyboard.press("Escape")
    await app.decide("Allow Destroy?", "Edit")
    await app.page.get_by_role("textbox", name="effect_id").fill("e3")
    yield "an approval being changed"
    await app.page.keyboard.press("Escape")
    await expect(app.card("Allow Destroy?").get_by_text("You changed 1 argument.")).to_be_visible()
    yield "an approval with changes"
    await app.decide("Allow Destroy?", "Deny…")
    await expect(app.card("Deny Destroy?")).to_be_visible()
    yield "a denial"


async def server_screens(own_app: OwnApp, folder: Path) -> AsyncIterator[tuple[OpenedApp, str]]:
    broken = Ledger(folder / "broken")
    broken.folder.mkdir()
    async with own_app(tables={"servers.broken": ledger_table(broken, "--fault", "exit")}) as app:
        drafts = {"shelf": {"command": "npx", "args": ["-y", "a-server", "--" + "long" * 40], "env": {"KEY": "x"}}}
        await app.server.post("/servers/import", {"mcpServers": drafts})
        await app.go("/ui/servers")
        await expect(app.page.get_by_role("region", name="shelf, draft")).to_be_visible()
        await expect(app.page.get_by_role("region", name="broken, failed")).to_be_visible()
        await app.page.get_by_role("row", name="ledger").get_by_role("button", name="ledger", exact=True).click()
        yield app, "servers"
        await app.button("Add server").click()
        yield app, "adding a server"
        await app.button("Import config").click()
        await app.page.get_by_label("Paste your MCP config").fill(json.dumps({"mcpServers": drafts}))
        yield app, "importing servers"
