"""Text, tables and JSON for the terminal. Text from models, tools and files is cleaned of control sequences first."""

import re
import sys
from collections.abc import Iterable, Sequence

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HIGH = re.compile(r"[\x7f-\x9f\u2028\u2029]")
_UNSEEN = re.compile(r"[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")

out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def clean(text: str) -> str:
    """Without escape sequences, and with characters that reorder or hide text made visible."""
    text = _CONTROL.sub("", _ANSI.sub("", text.replace("\r\n", "\n")))
    return _UNSEEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def line(text: str, most: int = 200) -> str:
    """The text on one line."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def as_json(value: object) -> None:
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    # JSON may hold control characters above ASCII as they are; a terminal may act on them.
    sys.stdout.write(_HIGH.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], empty: str) -> None:
    """Columns as wide as they need to be; at a terminal the last one is cut, so that a row stays a row."""
    cells = [tuple(line(cell, 1000) for cell in row) for row in rows]
    if not cells:
        return note(empty)
    widths = [max(cell_len(row[column]) for row in (tuple(heads), *cells)) for column in range(len(heads))]
    room = out.width if out.is_terminal else None
    for number, row in enumerate((tuple(heads), *cells)):
        text = "  ".join(set_cell_size(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        out.print(Text(set_cell_size(text, room).rstrip() if room else text, style="bold" if number == 0 else ""))


def note(text: str, style: str = "dim") -> None:
    err.print(Text(clean(text), style=style))


def from_terminal() -> bool:
    """Whether a person types the input. A program started without standard input has none at all."""
    return sys.stdin is not None and sys.stdin.isatty()


def shown_arguments(arguments: str, most: int = 80) -> str:
    """A call's arguments as a person would type them."""
    try:
        values = msgspec.json.decode(arguments, type=dict[str, object])
    except msgspec.DecodeError:
        return line(arguments, most)
    pairs = (
        f"{name}={value if isinstance(value, str) else msgspec.json.encode(value).decode()}"
        for name, value in values.items()
    )
    return line(" ".join(pairs), most)
