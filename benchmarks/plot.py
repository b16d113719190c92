"""A picture of the budgets: one bar per row that has one, as a share of what is allowed."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from benchmarks.report import machine, number
from benchmarks.rows import Row

WIDTH, LEFT, BAR, STEP, TOP = 860, 330, 300, 26, 64
GOOD, BAD, FAINT, INK = "#2f7d5b", "#b3432b", "#8a8f98", "#1d2127"


def svg(rows: Sequence[Row]) -> str:
    """The line in the middle is the budget; a bar that stays left of it holds."""
    shown = [row for row in rows if row.limit is not None]
    height = TOP + STEP * len(shown) + 40
    about = machine()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(20, 28, "Windlass against its budgets", INK, size=17),
        _text(20, 46, f"{about['cores']} cores, {about['processor']}, {str(about['at'])[:10]}", FAINT),
    ]
    for place, row in enumerate(shown):
        parts += _bar(row, TOP + place * STEP)
    bottom = TOP + STEP * len(shown)
    middle = LEFT + BAR * 2 // 3
    parts.append(f'<line x1="{middle}" y1="{TOP - 6}" x2="{middle}" y2="{bottom}" stroke="{INK}" stroke-width="1"/>')
    parts.append(_text(middle, bottom + 18, "budget", FAINT, anchor="middle"))
    return "\n".join([*parts, "</svg>\n"])


def _bar(row: Row, top: int) -> list[str]:
    assert row.limit
    used = row.limit / row.value if row.at_least and row.value else row.value / row.limit
    length = max(2.0, min(1.5, used) * BAR * 2 / 3)
    said = f"{number(row.value)} {row.unit} ({'at least' if row.at_least else 'at most'} {row.limit:g})"
    return [
        _text(LEFT - 10, top + 15, f"{row.scenario}: {row.what}", INK, anchor="end", size=12),
        f'<rect x="{LEFT}" y="{top + 3}" width="{length:.1f}" height="16" rx="2" fill="{GOOD if row.met else BAD}"/>',
        _text(LEFT + BAR + 12, top + 15, said, INK, size=12),
    ]


def _text(x: int, y: int, text: str, colour: str, anchor: str = "start", size: int = 13) -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}" font-size="{size}">{escape(text)}</text>'
