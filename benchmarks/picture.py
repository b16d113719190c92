"""Writes the picture of a run: the SVG itself, or PNGs of it in light and dark, drawn by the tests' browser."""

import asyncio
from pathlib import Path

from benchmarks.browser import chromium
from benchmarks.plot import svg
from benchmarks.report import Run


class UnknownPicture(Exception):
    """Neither .svg nor .png."""


def draw(run: Run, path: Path) -> None:
    match path.suffix:
        case ".svg":
            path.write_text(svg(run))
        case ".png":
            asyncio.run(_draw_png(svg(run), path))
        case other:
            raise UnknownPicture(f"a picture ends in .svg or .png, not in '{other}'")


async def _draw_png(drawing: str, path: Path) -> None:
    """Both themes come from one drawing. Outside its round corners it is transparent."""
    async with chromium() as browser:
        page = await browser.new_page(device_scale_factor=2)
        await page.set_content(f'<body style="margin: 0; background: transparent">{drawing}</body>')
        for theme, name in (("light", path), ("dark", path.with_stem(f"{path.stem}-dark"))):
            await page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            await page.locator("svg").screenshot(path=name, omit_background=True)
