"""Answers as they are read: formulas, text as it was written, right-to-left text, tables, long pastes."""

import re

import pytest
from playwright.async_api import FloatRect, Locator, expect

from tests.browser.visit import OpenedApp
from windlass.testing import call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

AS_TYPED = ["<Button>", "<details>x</details>", "a < b > c", "Map<K, V>", "It costs $5 and $6."]
FORMULAS = r"""The area \(a^2\) of $b_1 * c_1$ and a broken \(\frac{1}{\) one.

$$
E = \frac{1}{2}

m v^2
$$

\[ \sum_{n=1}^{\infty} \frac{1}{n^2} = \frac{\pi^2}{6} \]
"""
RIGHT_TO_LEFT = {
    "Hebrew": ("ההמלצה: המתנה אקראית.", "- זמן התאוששות\n- בקשות שנכשלו", "| מדיניות | זמן |\n| - | - |\n| קבוע | 4 |"),
    "Arabic": ("التوصية: انتظار عشوائي.", "1. زمن التعافي\n2. الطلبات", "| السياسة | الزمن |\n| - | - |\n| ثابت | 4 |"),
}
# The box of the last letter of a text.
LAST_LETTER = """(element) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let text = null;
    for (let next = texts.nextNode(); next; next = texts.nextNode()) if (next.data.trim()) text = next;
    const range = document.createRange();
    const end = text.data.trimEnd().length;
    range.setStart(text, end - 1);
    range.setEnd(text, end);
    return range.getBoundingClientRect().toJSON();
}"""
COPIED = """(element) => {
    getSelection().selectAllChildren(element);
    const copying = new ClipboardEvent("copy", { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
    element.dispatchEvent(copying);
    getSelection().removeAllRanges();
    return copying.clipboardData.getData("text/plain");
}"""


async def test_formulas_are_drawn_and_all_other_text_stands_as_it_was_written(app: OpenedApp) -> None:
    app.llm.then(say("\n\n".join([*AS_TYPED, FORMULAS])).in_pieces(7))
    await app.send("go")
    await expect(app.ended("Answered")).to_be_visible()
    prose = app.log.locator(".prose")
    for text in AS_TYPED:
        await expect(prose.locator("p").get_by_text(text, exact=True)).to_be_visible()
    await expect(prose.locator("math")).to_have_count(4)
    await expect(prose.locator("math msup").first).to_have_text("a2")
    fraction = await prose.locator(".tex.display mfrac").first.bounding_box()
    assert fraction is not None and fraction["height"] > 25, "the parts of a fraction stand above each other"
    broken = prose.locator(".tex-source")
    await expect(broken).to_have_text("\\(\\frac{1}{\\) Couldn\u2019t render")
    copied = await prose.evaluate(COPIED)
    assert r"The area \(a^2\) of $b_1 * c_1$" in copied and "$$\nE = \\frac{1}{2}\n\nm v^2\n$$" in copied


@pytest.mark.parametrize("language", RIGHT_TO_LEFT)
async def test_right_to_left_text_has_full_stop_list_and_table_on_its_own_side(app: OpenedApp, language: str) -> None:
    blocks = RIGHT_TO_LEFT[language]
    app.llm.then(say("\n\n".join(blocks)), say("One."))
    await app.box.fill(blocks[0])
    assert await app.box.evaluate("(box) => getComputedStyle(box).direction") == "rtl"
    await app.box.press("Enter")
    await expect(app.ended("Answered")).to_be_visible()
    prose, bubble = app.log.locator(".prose"), app.log.locator(".bubble")
    await ends_on_the_left(bubble)
    await ends_on_the_left(prose.locator("p"))
    item = prose.locator("li").first
    box, inside = await box_of(prose), await box_of(item)
    assert inside["x"] + inside["width"] <= box["x"] + box["width"] - 16, "the marks of a list stand on its right"
    heads = [await box_of(head) for head in await prose.locator("th").all()]
    assert heads[0]["x"] > heads[1]["x"], "the first column is the right one"
    title = app.page.get_by_role("navigation").locator("a.row [dir=auto]").first
    assert await title.evaluate("(title) => getComputedStyle(title).direction") == "rtl"
    rail = await box_of(app.log.locator(".round .n").first)
    assert rail["x"] < box["x"], "the rail does not mirror"
    await app.send("in English")
    await expect(app.ended("Answered")).to_have_count(2)
    english = prose.last.locator("p")
    assert await english.evaluate("(text) => getComputedStyle(text).direction") == "ltr"


async def ends_on_the_left(text: Locator) -> None:
    last = await text.evaluate(LAST_LETTER)
    box = await box_of(text)
    words = await text.evaluate(LAST_LETTER.replace("end - 1", "0"))
    assert last["x"] <= words["x"] + 1, "the full stop is left of the words"
    assert words["right"] > box["x"] + box["width"] - 24, "the text begins at the right"


async def box_of(element: Locator) -> FloatRect:
    box = await element.bounding_box()
    assert box is not None
    return box


async def test_the_heads_of_long_tables_and_of_code_stay_in_view(app: OpenedApp) -> None:
    rows = "\n".join(f"| {n} | row {n} |" for n in range(60))
    code = "\n".join(f"line({n})" for n in range(80))
    app.llm.then(say(f"| n | name |\n| - | - |\n{rows}\n\n```python\n{code}\n```\n\nEnd."))
    await app.send("go")
    await expect(app.ended("Answered")).to_be_visible()
    table, head = app.log.locator(".tbl"), app.log.locator("th").first
    await expect(app.log.get_by_role("button", name="Show all 60 rows")).to_be_visible()
    await table.evaluate("(box) => box.scrollTo(0, 900)")
    assert abs((await box_of(head))["y"] - (await box_of(table))["y"]) < 2
    figure, caption = app.log.locator("figure.code"), app.log.locator("figure.code figcaption")
    await figure.get_by_text("line(60)").scroll_into_view_if_needed()
    await app.log.get_by_text("End.").scroll_into_view_if_needed()
    frame, bar = await box_of(figure), await box_of(caption)
    assert bar["y"] > frame["y"] + 200, "the head of the code moves with what is seen of it"
    await expect(caption.get_by_role("button", name="Copy")).to_be_in_viewport()


async def test_a_long_paste_takes_eight_lines_and_opens_on_request(app: OpenedApp) -> None:
    app.llm.then(say("Full jitter."))
    lines = "\n".join(f"08:12:04 worker-{n} connect refused, retry in 0 ms" for n in range(612))
    await app.send(f"{lines}\n\nWhich policy fixes this?")
    await expect(app.ended("Answered")).to_be_visible()
    bubble = app.log.locator(".bubble")
    assert (await box_of(bubble))["height"] < 300
    await expect(bubble.get_by_text("Which policy fixes this?")).to_be_visible()
    await bubble.get_by_role("button", name=re.compile("Show all 612 lines, 3[0-9].kB")).click()
    await expect(bubble.get_by_text("worker-611 ")).to_be_visible()
    assert (await box_of(bubble))["height"] < 900
    await app.page.reload()
    assert (await box_of(bubble))["height"] < 300


SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="220"><rect width="9" height="9" fill="teal"/></svg>'
CONTENT = [
    {"type": "text", "text": "Recovery time per restart."},
    {"type": "resource", "resource": {"uri": "file:///plots/chart.svg", "mimeType": "image/svg+xml", "text": SVG}},
    {
        "type": "resource",
        "resource": {"uri": "file:///plots/data.bin", "mimeType": "application/x-data", "blob": "AAEC"},
    },
]


async def test_pictures_and_files_of_tools_stay_in_view_when_their_calls_fold(app: OpenedApp) -> None:
    app.llm.then(call("odd", kind="image") + call("echo", result={"content": CONTENT}), say("There it is."))
    await app.send("go")
    await expect(app.ended("Answered")).to_be_visible()
    await shows_the_figures(app)
    await app.page.reload()
    await shows_the_figures(app)
    async with app.page.expect_download() as saving:
        await app.log.get_by_role("button", name="Save data.bin").click()
    saved = await saving.value
    assert saved.suggested_filename == "data.bin"
    assert (await saved.path()).read_bytes() == b"\0\1\2"
    await app.page.set_viewport_size({"width": 375, "height": 812})
    figure, button = app.log.locator("figure.fig").nth(1), app.log.get_by_role("button", name="Save chart.svg")
    frame, inside = await box_of(figure), await box_of(button)
    assert inside["x"] + inside["width"] <= frame["x"] + frame["width"], "a wide picture leaves its caption in view"
    await app.log.get_by_role("button", name="2 tools").click()
    await expect(app.call("Echo").locator(".thumb img")).to_be_visible()
    thumb = await box_of(app.call("Echo").locator(".thumb"))
    assert (thumb["width"], thumb["height"]) == (24, 24)


async def shows_the_figures(app: OpenedApp) -> None:
    figures = app.log.locator("figure.fig")
    await expect(figures.locator("figcaption")).to_have_text(
        [
            re.compile("Image from Odd on ledger, 81.B"),
            re.compile(f"chart.svg from Echo on ledger, {len(SVG)}.B"),
            re.compile("data.bin from Echo on ledger, 3.B"),
        ]
    )
    await expect(figures.get_by_role("img", name="Image from Odd, no description")).to_be_visible()
    chart = figures.get_by_role("img", name="Recovery time per restart.")
    await expect(chart).to_be_visible()
    assert await chart.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 640
    heights = [(await box_of(figure))["height"] for figure in await figures.all()]
    assert heights == [318, 318, 38], "a picture takes the room that was kept for it"
    assert await app.page.evaluate("() => document.querySelectorAll('figure svg:not(.ic)').length") == 0
