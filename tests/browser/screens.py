"""Every main screen of the page, one after the other, for whoever wants to look at each of them."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

from playwright.async_api import expect

from tests.browser.conftest import OwnHouse
from tests.browser.visit import House, Visit, ledger_table
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
    await demo.go("/ui/settings")
    await expect(demo.page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    yield "settings"
    await demo.context.clear_cookies()
    await demo.page.reload()
    await expect(demo.button("Sign in")).to_be_visible()
    yield "sign in"


async def turn_screens(house: House) -> AsyncIterator[str]:
    house.llm.then(
        think("The person wants pages.\n\nSo I look.")
        + call("echo", text="https://example.org/one https://example.org/two")
        + call("fail", message="no such shelf")
        + call("odd", kind="structured"),
        say(ANSWER),
        call("destroy", effect_id="e1") + call("destroy", effect_id="e2"),
    )
    await house.send("Look for two pages,\nplease")
    await expect(house.ended("Answered")).to_be_visible()
    await house.log.get_by_role("button", name=re.compile("Thought for")).click()
    yield "a finished turn"
    await house.page.get_by_role("button", name="Inspect this turn").click()
    inspector = house.page.get_by_label("Turn inspector").get_by_role("tab", name="Prompt sent")
    await expect(inspector).to_be_visible()
    yield "the inspector"
    await house.page.get_by_role("tab", name="Raw reply").click()
    yield "the inspector, raw reply"
    await house.page.get_by_role("tab", name="Events").click()
    yield "the inspector, events"
    await house.page.keyboard.press("Escape")
    await house.send("Now destroy it")
    await expect(house.card("Allow Destroy?")).to_be_visible()
    yield "an approval"
    await house.decide("Allow Destroy?", "Edit arguments")
    await house.page.get_by_role("textbox", name="effect_id").fill("e3")
    yield "an approval being changed"
    await house.past_the_guard()
    await house.page.get_by_role("button", name="Deny…").first.click()
    await expect(house.card("Deny Destroy?")).to_be_visible()
    yield "a denial"


async def server_screens(own_house: OwnHouse, folder: Path) -> AsyncIterator[tuple[House, str]]:
    broken = Ledger(folder / "broken")
    broken.folder.mkdir()
    async with own_house(tables={"servers.broken": ledger_table(broken, "--fault", "exit")}) as house:
        drafts = {"shelf": {"command": "npx", "args": ["-y", "a-server", "--" + "long" * 40], "env": {"KEY": "x"}}}
        await house.server.post("/servers/import", {"mcpServers": drafts})
        await house.go("/ui/servers")
        await expect(house.page.get_by_role("region", name="shelf, draft")).to_be_visible()
        await expect(house.page.get_by_role("region", name="broken, failed")).to_be_visible()
        await house.page.get_by_role("row", name="ledger").get_by_role("button", name="ledger", exact=True).click()
        yield house, "servers"
        await house.button("Add server").click()
        yield house, "adding a server"
        await house.button("Import JSON").click()
        await house.page.get_by_label("The file of another client").fill(json.dumps({"mcpServers": drafts}))
        yield house, "importing servers"
