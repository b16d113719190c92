"""Hostile text through every sink: it is shown as text, runs nothing, fetches nothing."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import OwnApp
from tests.browser.payloads import payloads
from tests.browser.visit import OpenedApp, Visit, ledger_table
from tests.kit.ledger_file import Ledger
from tests.proof.figures import FULL, note
from windlass.testing import ChatRequest, Reply, call, raw_call, say, think

COUNT = 1000 if FULL else 50
A_PAGE = 50  # a conversation this long is drawn whole
pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(1800 if FULL else 240),
]

OPEN_ALL = """() => {
    const folded = [...document.querySelectorAll("main [aria-expanded=false]:not([aria-haspopup])")];
    folded.forEach((element) => element.click());
}"""
# Whatever got through would show in the tree, also where a script would have needed a click to run.
INTRUDERS = """() => {
    const odd = (element) =>
        [...element.attributes].some(({ name }) => name.startsWith("on") || name === "srcdoc") ||
        element.matches("iframe, object, embed, base, form[action], video, audio, meta[http-equiv], template") ||
        element.matches(":not(.tex) > math") ||
        (element.closest("math") && !element.namespaceURI.endsWith("/MathML")) ||
        (element.matches("script") && !element.src.startsWith(location.origin)) ||
        (element.matches("link") && !element.href.startsWith(location.origin)) ||
        (element.matches("img") && !/^(data:image\\/(png|jpeg|gif|webp);|blob:)/.test(element.src)) ||
        (element.matches("a[href]") && !/^(https?|mailto):/.test(element.href));
    const found = [...document.querySelectorAll("*")].filter(odd).map((element) => element.outerHTML.slice(0, 200));
    return "canary" in window ? [...found, "a script ran"] : found;
}"""

PLANT = """(main, planted) => planted.forEach(([kind, name, value]) => {
    const element = document.createElement(kind);
    element.setAttribute(name, value);
    main.append(element);
})"""
REFUSED = """(text) => {
    try { document.createElement("div").innerHTML = text } catch (error) { return error.name }
}"""


# Where each is shown: words of a person, the model, its thoughts, a tool and a refusal, names and arguments of calls;
# then names, titles and descriptions of tools, names and commands of servers.
SAID, NAMED = 7, 5


def hostile(request: ChatRequest) -> Reply:
    """The model says back what it was told, in every way it can."""
    text = request.user_text
    if request.rounds == 0:
        return think(text) + say(text) + call("echo", text=text) + raw_call(text[:60], json.dumps({text[:40]: text}))
    return say(text)


async def is_harmless(page: Page) -> None:
    for _ in range(2):  # what is folded inside what was folded
        await page.evaluate(OPEN_ALL)
    assert await page.evaluate(INTRUDERS) == []


async def chat(app: OpenedApp, texts: Sequence[str]) -> str:
    conversation = (await app.server.post("/conversations", {"title": texts[0]}))["conversation"]["id"]
    for text in texts:
        said = await app.server.call(
            "POST", f"/conversations/{conversation}/chat", {"content": text, "web_search": "off"}
        )
        assert said.status == 200, said
    return str(conversation)


async def test_hostile_words_of_people_models_and_tools_are_only_shown(own_app: OwnApp) -> None:
    every = payloads(COUNT)
    async with own_app(script=hostile) as app:
        for texts in (every[start : start + A_PAGE] for start in range(0, COUNT, A_PAGE)):
            conversation = await chat(app, texts)
            await app.go(f"/ui/c/{conversation}")
            await expect(app.log.get_by_role("article")).to_have_count(len(texts))
            await is_harmless(app.page)
        await app.page.get_by_role("button", name="Inspect this turn").last.click()
        await expect(app.page.get_by_role("tab", name="Prompt sent")).to_be_visible()
        await is_harmless(app.page)
        await app.page.get_by_role("tab", name=re.compile("(Raw|Parsed) reply")).click()
        await is_harmless(app.page)
    note("xss", payloads=len(every), sinks=SAID)


async def test_hostile_names_titles_and_descriptions_are_only_shown(own_app: OwnApp, tmp_path: Path) -> None:
    texts = payloads(COUNT)
    tools = [
        {"name": f"{text[:50]} {n}", "title": text, "description": text, "inputSchema": {"type": "object"}}
        for n, text in enumerate(texts)
    ]
    odd = Ledger(tmp_path / "odd")
    odd.folder.mkdir()
    definitions = odd.folder / "tools.json"
    definitions.write_text(json.dumps(tools))
    table = {**ledger_table(odd, "--tools", str(definitions)), "enabled": "", "name": texts[0]}
    async with own_app(tables={"servers.odd": table}) as app:
        await app.server.running("odd")
        for text in texts:
            await app.server.post("/conversations", {"title": text})
            await app.server.post("/servers", {"name": text, "command": text})
        await app.go("/ui/servers")
        await expect(app.page.get_by_role("region").filter(has_text="Draft")).to_have_count(len(texts))
        await is_harmless(app.page)
        await app.go("/ui/")
        await expect(app.page.get_by_role("navigation").get_by_role("listitem")).to_have_count(min(len(texts), 100))
        await app.page.get_by_role("button", name="Tools:").click()
        picker = app.page.get_by_role("dialog", name="Tools of this chat")
        await expect(picker.get_by_role("checkbox").nth(len(texts))).to_be_attached()
        assert await app.page.evaluate(INTRUDERS) == []
    note("xss", payloads=len(texts), sinks=NAMED)


async def test_the_check_sees_what_was_let_through(demo: Visit) -> None:
    """Planted as a tree: the page's own policy refuses markup."""
    planted = [["a", "href", "javascript:0"], ["b", "onodd", "1"], ["math", "id", "m"], ["template", "id", "t"]]
    await demo.page.locator("main").evaluate(PLANT, planted)
    assert len(await demo.page.evaluate(INTRUDERS)) == len(planted)


async def test_the_browser_itself_refuses_markup_made_of_text(app: OpenedApp) -> None:
    """Letters by their names are shown all the same."""
    app.llm.then(say("A &copy; and &hearts; beside `&amp;`, and &CounterClockwiseContourIntegral;."))
    await app.send("Letters")
    await expect(app.log).to_contain_text("A © and ♥ beside &amp;, and ∳.")
    assert await app.page.evaluate(REFUSED, "<img src=x onerror=canary=1>") == "TypeError"
    assert await app.page.evaluate(REFUSED, "&copy;") is None
    app.watch.errors.clear()
