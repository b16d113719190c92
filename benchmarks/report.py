"""The table as text, as JSON and as a picture."""

import os
import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.rows import Row

VERDICTS = {None: "", True: "ok", False: "MISSED"}


def table(rows: Sequence[Row]) -> str:
    head = ("", "what", "figure", "spread", "budget", "", "")
    lines = [head, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    made: list[str] = []
    for before, line in zip([head, *lines], lines, strict=False):
        gap = "" if line[0] == before[0] else "\n"
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        cells[2] = line[2].rjust(widths[2])
        made.append(gap + "  ".join(cells).rstrip())
    return "\n".join(made)


def as_json(rows: Sequence[Row]) -> bytes:
    found: dict[str, Any] = {
        "machine": machine(),
        "rows": [{**msgspec.to_builtins(row), "met": row.met} for row in rows],
    }
    return msgspec.json.format(msgspec.json.encode(found))


def machine() -> dict[str, str | int | float]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": sys.version.split()[0],
    }


def number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _cells(row: Row) -> tuple[str, ...]:
    spread = f"{number(row.low)} .. {number(row.high)}" if row.low != row.high else ""
    sign = ">=" if row.at_least else "<="
    budget = f"{sign} {row.limit:g}" if row.limit is not None else ""
    return row.scenario, row.what, f"{number(row.value)} {row.unit}", spread, budget, VERDICTS[row.met], row.note


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
