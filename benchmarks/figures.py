"""The section on speed of docs/figures.md, written from one run."""

import re

from benchmarks.report import Run, number, table
from benchmarks.rows import Row

SECTION = re.compile(r"^## Speed.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
PEERS = """The peers do the same work in the same rounds: the same model server over HTTP, the same MCP server over
stdio, every answer checked. Each runs in an environment of its own, pinned in `requirements/peers`, driven by one small
file in `benchmarks/peers`. What a peer leaves out of the work stands behind its figure; Windlass is a server in all
rows, keeps every step, judges every call and streams. A peer without a figure has the reason there.
"""
MISSED = "Missed budgets stand in the table as they are; where the time goes is in `benchmarks/NOTES.md`:\n\n"


class NoSection(Exception):
    """The page has no section on speed to replace."""


def with_speed(page: str, run: Run, picture: str = "") -> str:
    """The page with that section made anew, all else as it was."""
    made, count = SECTION.subn(lambda _: _section(run, picture), page, count=1)
    if not count:
        raise NoSection("the page has no heading that begins with '## Speed'")
    return made


def _section(run: Run, picture: str) -> str:
    peers = any(row.subject and not row.subject.startswith(("floor", "Windlass")) for row in run.rows)
    command = "make bench PEERS=1" if peers else "make bench"
    day, load = str(run.machine["at"])[:10], run.machine["load"]
    parts = [f"## Speed: `{command}`, {day}, load {load}\n"]
    if picture:
        parts.append(_picture(picture))
    parts.append(f"```text\n{table(run.rows)}\n\n{run.about}\n```\n")
    if peers:
        parts.append(PEERS)
    if missed := [row for row in run.rows if row.met is False]:
        parts.append(MISSED + "".join(_line(row) for row in missed))
    return "\n".join(parts) + "\n"


def _picture(light: str) -> str:
    """Dark where the reader's page is dark."""
    dark = re.sub(r"(\.\w+)$", r"-dark\1", light)
    source = f'<source media="(prefers-color-scheme: dark)" srcset="{dark}">' if light.endswith(".png") else ""
    return f'<picture>{source}<img src="{light}" width="880" alt="The figures below as bars"></picture>\n'


def _line(row: Row) -> str:
    sign = "at least" if row.at_least else "at most"
    return f"- {row.scenario}, {row.what}: {number(row.value)} {row.unit}, {sign} {row.limit:g}\n"
