"""The Chromium that the tests use."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

from benchmarks.processes import ROOT, Failed

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    find = ROOT / "scripts" / "find-chromium"
    found = await asyncio.to_thread(subprocess.run, [find], capture_output=True, text=True)
    if found.returncode:
        raise Failed("there is no Chromium; set CHROMIUM to its path")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found.stdout.strip(), args=FLAGS)
        yield browser
        await browser.close()
