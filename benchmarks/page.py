"""The page in a real Chromium: how soon a long conversation opens, how it scrolls, whether a stream drops frames."""

import asyncio
import gzip
import re
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page, expect

import windlass
from benchmarks.browser import chromium
from benchmarks.rows import Row, row
from benchmarks.subjects import Stage
from tests.browser.visit import ledger_table, write_settings
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess, model_settings
from tests.kit.windlass_process import windlass as windlass_process
from windlass.testing import Reply, StrictLLM, call, say, wait_for
from windlass.testing.scripts import ScriptFunction, by_round

MESSAGES = 5000
TOKENS, TOKENS_PER_S = 2000, 200
STEPS = 40
STEP_BY_STEP = "Step by step"
MOST_OPEN_MS, MOST_FRAME_MS, MOST_KB = 1000, 100, 250
MOST_CODE_KB, MOST_LOAD_KB = 190, 300

SENT = """async () => {
    await document.fonts.ready;
    const sent = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    const kB = (those) => those.reduce((sum, { transferSize }) => sum + transferSize, 0) / 1000;
    return [kB(sent.filter(({ name }) => /\\.(js|css)$/.test(name))), kB(sent)];
}"""

WATCH_TASKS = """() => {
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => {
        window.longest = Math.max(window.longest, duration);
    })).observe({ type: "longtask" });
}"""
WATCH_FRAMES = """() => {
    window.gap = 0;
    let before = performance.now();
    const look = (now) => {
        window.gap = Math.max(window.gap, now - before);
        before = now;
        window.watching = requestAnimationFrame(look);
    };
    window.watching = requestAnimationFrame(look);
}"""
SCROLL = """async () => {
    const box = document.querySelector("main .scroll");
    for (let step = 0; step < 120; step += 1) {
        box.scrollTop -= step % 2 ? 700 : 4000;
        await new Promise(requestAnimationFrame);
    }
}"""


async def page(_stage: Stage, quick: bool) -> list[Row]:
    rounds = 1 if quick else 3
    rows = [row("page", "initial JS, gzipped", [initial_kb()], "kB", limit=MOST_KB)]
    text, pace = _paced(TOKENS)
    steps, step_pace = _paced_steps()
    async with (
        StrictLLM(lambda request: steps(request) if request.user_text == STEP_BY_STEP else text) as llm,
        _open_page(llm.base_url) as (server, tab),
    ):
        code, load = await tab.evaluate(SENT)
        rows.append(row("page", "first load: JS and CSS on the wire", [code], "kB", limit=MOST_CODE_KB))
        rows.append(row("page", "first load: all, fonts included", [load], "kB", limit=MOST_LOAD_KB))
        conversation = await _long_conversation(server)
        opened = [await _open_ms(server, tab, conversation) for _ in range(rounds)]
        rows.append(row("page", f"{MESSAGES:,} messages: open", opened, "ms", limit=MOST_OPEN_MS))
        rows.append(row("page", "scrolling them: longest task", [await _scroll_ms(tab)], "ms", limit=MOST_FRAME_MS))
        gap, task = await _stream_ms(server, tab, "Go on", pace)
        rows.append(row("page", f"{TOKENS:,} tokens: longest frame", [gap], "ms", limit=MOST_FRAME_MS))
        rows.append(row("page", f"{TOKENS:,} tokens: longest task", [task], "ms", limit=MOST_FRAME_MS))
        _, task = await _stream_ms(server, tab, STEP_BY_STEP, step_pace)
        what = f"{TOKENS:,} tokens in {STEPS} steps: longest task"
        rows.append(row("page", what, [task], "ms", limit=MOST_FRAME_MS))
    return rows


def initial_kb() -> float:
    """What the page loads before it shows anything."""
    built = Path(windlass.__file__).parent / "web" / "static"
    names = re.findall(r'(?:src|href)="/ui/([^"]+\.js)"', (built / "index.html").read_text())
    return sum(len(gzip.compress((built / name).read_bytes())) for name in names) / 1000


@asynccontextmanager
async def _open_page(base_url: str) -> AsyncIterator[tuple[WindlassProcess, Page]]:
    with tempfile.TemporaryDirectory() as folder:
        home, ledger = Path(folder) / "home", Ledger(Path(folder) / "ledger")
        ledger.folder.mkdir()
        write_settings(home, {"servers.ledger": ledger_table(ledger), "limits": {"rounds": STEPS + 1}})
        async with windlass_process(home, env=model_settings(base_url)) as server, chromium() as browser:
            await server.running("ledger")
            tab = await browser.new_page(viewport={"width": 1440, "height": 900})
            await tab.goto(server.login_url)
            await tab.locator("#composer").wait_for()
            yield server, tab


async def _long_conversation(server: WindlassProcess) -> str:
    """Questions and answers as people and models write them, some with a table or code."""
    answer = (
        "It **depends** on the pool.\n\n| n | size |\n|---|---:|\n| 1 | 10 |\n\n```toml\nsize = 10\n```\n\nSee `size`."
    )
    messages = [
        {"role": "assistant", "content": answer} if n % 2 else {"role": "user", "content": f"Question {n // 2}?"}
        for n in range(MESSAGES)
    ]
    made = await server.post("/conversations/import", {"title": "Long", "messages": messages})
    return str(made["conversation"]["id"])


async def _open_ms(server: WindlassProcess, tab: Page, conversation: str) -> float:
    await tab.goto(f"{server.url}/ui/servers")
    began = time.perf_counter()
    await tab.goto(f"{server.url}/ui/c/{conversation}", wait_until="commit")
    await expect(tab.get_by_text(f"Question {MESSAGES // 2 - 1}?")).to_be_visible(timeout=60_000)
    return (time.perf_counter() - began) * 1000


async def _scroll_ms(tab: Page) -> float:
    await tab.evaluate(WATCH_TASKS)
    await tab.evaluate(SCROLL)
    return float(await tab.evaluate("() => window.longest"))


async def _stream_ms(
    server: WindlassProcess, tab: Page, message: str, pace: list[asyncio.Event]
) -> tuple[float, float]:
    """The longest frame and the longest task."""
    await tab.goto(f"{server.url}/ui/")
    await tab.locator("#composer").fill(message)
    await tab.locator("#composer").press("Enter")
    await tab.wait_for_url("**/ui/c/*")
    await tab.evaluate(WATCH_FRAMES)
    await tab.evaluate(WATCH_TASKS)
    began = time.perf_counter()
    for n, gate in enumerate(pace):
        await asyncio.sleep(max(0.0, began + n / TOKENS_PER_S - time.perf_counter()))
        gate.set()
    await expect(tab.get_by_text("Answered")).to_be_visible(timeout=60_000)
    gap, task = await tab.evaluate("() => { cancelAnimationFrame(window.watching); return [gap, longest]; }")
    return float(gap), float(task)


def _paced(tokens: int) -> tuple[Reply, list[asyncio.Event]]:
    """A reply with a gate before each token."""
    pace = [asyncio.Event() for _ in range(tokens)]
    parts: list[str | Reply] = []
    for n, gate in enumerate(pace):
        parts += [wait_for(gate), "\n\n" if n % 60 == 59 else "**word** " if n % 20 == 0 else "word "]
    return say(*parts), pace


def _paced_steps() -> tuple[ScriptFunction, list[asyncio.Event]]:
    """As many tokens, a part of them before each step and the last after all of them."""
    parts = [_paced(TOKENS // (STEPS + 1)) for _ in range(STEPS + 1)]
    replies = [text + call("echo", text=f"step {n}") for n, (text, _) in enumerate(parts[:STEPS])]
    return by_round(*replies, parts[STEPS][0]), [gate for _, pace in parts for gate in pace]
