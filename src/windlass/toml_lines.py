"""Where a setting stands in a TOML file, for messages that name the line to change."""

import re

_TABLE = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_MANY = ('"""', "'''")


def setting_lines(text: str) -> dict[str, int]:
    """Line numbers by dotted names: `servers.files.approval`, and `policy.1` for the first table of a list. A table
    written in one line is found by its own name only. The file must be valid."""
    found: dict[str, int] = {}
    counts: dict[str, int] = {}
    table = inside = ""
    for number, line in enumerate(text.splitlines(), 1):
        if inside:  # a string of several lines
            inside = "" if line.count(inside) % 2 else inside
            continue
        if header := _TABLE.match(line):
            table = _dotted(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, 0) + 1
                table = f"{table}.{counts[table]}"
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault(f"{table}.{_dotted(key[1])}".lstrip("."), number)
            inside = next((mark for mark in _MANY if line.count(mark) % 2), "")
    return found


def _dotted(name: str) -> str:
    return ".".join(part.strip("\"'") for part in _PART.findall(name))
