"""A picture of a run, as SVG in the page's own colours, light and dark: Windlass beside the floor and the peers, then
how much of each budget is used."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from benchmarks.report import Run, number
from benchmarks.rows import Row

WIDTH, PAD, LINE = 880, 24, 40
NAMES, GAP, COLUMN, FIGURE = 268, 20, 174, 52  # a column is a bar and the figure behind it
SHOWN_FLOOR = "floor, server, normal"
BUDGET_LEFT, BUDGET_BAR, BUDGET_LINE = 300, 270, 26
WORDS = {SHOWN_FLOOR: "floor", "Windlass, normal": "Windlass", "Windlass, full": "Windlass, full durability"}
BARE = "hand-written, nothing to spare"
KEPT = {
    SHOWN_FLOOR: BARE,
    "Windlass, normal": "server: stores, streams, judges",
    "Windlass, full": "the same, promises synced to disk",
}

STYLE = """
.card { fill: #ffffff; stroke: #e2e6e5 } .track { fill: #f0f3f2 } .rule { stroke: #e2e6e5 } .mark { stroke: #161a19 }
.ink { fill: #161a19 } .second { fill: #49524f } .meta { fill: #5f6966 } .bad { fill: #b0281d } .ours { fill: #0b665f }
.other { fill: #6b7673 } .floor { fill: none; stroke: #7f8a87 } .row { fill: #e4f1ef } .budget { fill: #6b7673 }
.cut { stroke: #ffffff; stroke-width: 4 }
@media (prefers-color-scheme: dark) {
.card { fill: #181c1b; stroke: #3a4240 } .track { fill: #1f2423 } .rule { stroke: #272d2b } .mark { stroke: #e8ecea }
.ink { fill: #e8ecea } .second { fill: #afb8b5 } .meta { fill: #929c99 } .bad { fill: #f2948b } .ours { fill: #5ac4b6 }
.other { fill: #8d9794 } .floor { stroke: #717b78 } .row { fill: #122926 } .budget { fill: #8d9794 }
.cut { stroke: #181c1b }
}
text { font-family: Inter, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; font-variant-numeric: tabular-nums }
"""


@dataclass(frozen=True, slots=True)
class Chart:
    scenario: str
    suffix: str
    title: str
    unit: str


CHARTS = (
    Chart("S1", "", "Two rounds of tools", "ms a turn, less is better"),
    Chart("S2", "", "Eight calls of 200 ms", "ms in all, less is better"),
    Chart("S4", ", 50 at once", "50 conversations", "turns/s, more is better"),
)


def svg(run: Run) -> str:
    compared, height = _compared(run.rows, PAD + 64)
    budgets, height = _budgets([row for row in run.rows if row.limit is not None], height)
    about = run.machine
    machine = f"{about['cores']} cores, {about['processor']}, Python {about['python']}, load {about['load']}"
    day = str(about["at"])[:10]
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
        f"<style>{STYLE}</style>",
        f'<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>',
        _text(PAD, PAD + 18, "The same work, side by side", "ink", size=17, weight=600),
        _text(
            PAD, PAD + 38, f"One model server, one MCP server, every answer checked. {machine}, {day}.", "meta", size=12
        ),
    ]
    return "\n".join([*head, *compared, *budgets, "</svg>\n"])


def _compared(rows: Sequence[Row], top: int) -> tuple[list[str], int]:
    """One line for each subject, one column for each chart."""
    subjects = list(dict.fromkeys(row.subject for row in rows if _shown(row)))
    charts = [chart for chart in CHARTS if any(_in(row, chart) for row in rows)]
    if not charts:
        return [], top
    parts = [_heading(chart, place, top) for place, chart in enumerate(charts)]
    top += 44
    for place, subject in enumerate(subjects):
        mine = [row for row in rows if row.subject == subject]
        parts += _name(subject, mine, top + place * LINE)
    for place, chart in enumerate(charts):
        parts += _column([row for row in rows if _in(row, chart)], subjects, _left(place), top)
    return parts, top + LINE * len(subjects) + 24


def _shown(row: Row) -> bool:
    return bool(row.subject) and (not row.subject.startswith("floor") or row.subject == SHOWN_FLOOR)


def _in(row: Row, chart: Chart) -> bool:
    return _shown(row) and row.scenario == chart.scenario and row.what == f"{row.subject}{chart.suffix}"


def _left(place: int) -> int:
    return PAD + NAMES + place * (COLUMN + GAP)


def _heading(chart: Chart, place: int, top: int) -> str:
    x = _left(place)
    return _text(x, top + 12, chart.title, "ink", weight=600) + _text(x, top + 29, chart.unit, "meta", size=12)


def _name(subject: str, rows: Sequence[Row], top: int) -> list[str]:
    """Who, and in small what the row pays for, or why there is no figure."""
    why = next((row.note for row in rows if row.absent), "")
    leaves_out = next((row.note.partition("; ")[2] for row in rows if "; " in row.note), "")
    small = why or KEPT.get(subject, leaves_out)
    lines = [_text(PAD, top + 17, WORDS.get(subject, subject), "ink", weight=600 if _is_ours(subject) else 500)]
    if _is_ours(subject):
        lines.insert(0, f'<rect class="row" x="{PAD - 10}" y="{top}" width="{WIDTH - 2 * PAD + 20}" height="{LINE}"/>')
    return [*lines, _text(PAD, top + 32, _cut(small, 41), "meta", size=11)]


def _column(rows: Sequence[Row], subjects: Sequence[str], x: int, top: int) -> list[str]:
    """Bars share one scale, set by the slowest or the quickest of all but the floor."""
    most = max((row.value for row in rows if not row.absent and row.subject != SHOWN_FLOOR), default=1.0)
    parts: list[str] = []
    for row in rows:
        y = top + subjects.index(row.subject) * LINE
        parts += [_no_figure(x, y)] if row.absent else _bar(row, x, y, most)
    return parts


def _bar(row: Row, x: int, top: int, most: float) -> list[str]:
    room = COLUMN - FIGURE
    length = max(2.0, min(1.0, row.value / most) * room)
    kind = "ours" if _is_ours(row.subject) else "floor" if row.subject == SHOWN_FLOOR else "other"
    end = _text(
        round(x + length + 8), top + 24, number(row.value), "ink", size=12, weight=600 if kind == "ours" else 400
    )
    if row.value > most:  # the floor, cut off where the scale ends
        shape = f'<rect class="floor" x="{x + 0.5}" y="{top + 12.5}" width="{room - 1}" height="15" rx="2"/>'
        return [shape, f'<path class="cut" d="M{x + room - 14} {top + 31}l6 -22"/>', end]
    inset = 0.5 if kind == "floor" else 0
    size = f'width="{max(1.5, length - 2 * inset):.1f}" height="{16 - 2 * inset:g}"'
    return [f'<rect class="{kind}" x="{x + inset:g}" y="{top + 12 + inset:g}" {size} rx="2"/>', end]


def _no_figure(x: int, top: int) -> str:
    return _text(x, top + 24, "no figure", "meta", size=12)


def _budgets(rows: Sequence[Row], top: int) -> tuple[list[str], int]:
    """The line is the budget; a bar that stays left of it holds."""
    if not rows:
        return [], top
    mark, first = PAD + BUDGET_LEFT + BUDGET_BAR * 2 // 3, top + 58
    bottom = first + BUDGET_LINE * len(rows)
    parts = [
        f'<line class="rule" x1="{PAD}" y1="{top + 0.5}" x2="{WIDTH - PAD}" y2="{top + 0.5}"/>',
        _text(PAD, top + 34, "How much of each budget is used", "ink", size=15, weight=600),
        _text(mark, top + 34, "budget", "meta", size=12, anchor="middle"),
    ]
    for place, row in enumerate(rows):
        parts += _used(row, first + place * BUDGET_LINE)
    parts.append(f'<line class="mark" x1="{mark + 0.5}" y1="{first - 14}" x2="{mark + 0.5}" y2="{bottom - 4}"/>')
    return parts, bottom + PAD


def _used(row: Row, top: int) -> list[str]:
    assert row.limit
    used = row.limit / row.value if row.at_least and row.value else row.value / row.limit
    length = max(2.0, min(1.5, used) * BUDGET_BAR * 2 / 3)
    x, after = PAD + BUDGET_LEFT, PAD + BUDGET_LEFT + BUDGET_BAR + 12
    sign = "at least" if row.at_least else "at most"
    said = f"{number(row.value)} {row.unit}, {sign} {row.limit:g}"
    bar = f'y="{top + 1}" height="12" rx="2"'
    parts = [
        _text(PAD, top + 11, _cut(f"{row.scenario}: {row.what}", 46), "second", size=12),
        f'<rect class="track" x="{x}" {bar} width="{BUDGET_BAR}"/>',
        f'<rect class="{"budget" if row.met else "bad"}" x="{x}" {bar} width="{length:.1f}"/>',
        _text(after, top + 11, said if row.met else f"{said}: missed", "second" if row.met else "bad", size=12),
    ]
    return parts


def _is_ours(subject: str) -> bool:
    return subject.startswith("Windlass")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip(" ,:;") + "…"


def _text(x: int, y: int, text: str, kind: str, *, size: int = 13, weight: int = 400, anchor: str = "start") -> str:
    place = f'x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(text)}</text>'
