"""What the terminal shows. Everything that comes from models, tools and files is made harmless first."""

import re
import sys
from collections.abc import Iterable, Sequence

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNSEEN = re.compile(r"[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")

out = Console(highlight=False, markup=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def clean(text: str) -> str:
    """No escape sequence of a tool reaches the terminal, and nothing that reorders or hides text stays unseen."""
    text = _CONTROL.sub("", _ANSI.sub("", text.replace("\r\n", "\n")))
    return _UNSEEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def line(text: str, most: int = 200) -> str:
    """The text on one line."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def as_json(value: object) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], empty: str) -> None:
    made = Table(box=None, header_style="bold", pad_edge=False)
    for head in heads:
        made.add_column(head, overflow="fold")
    for row in rows:
        made.add_row(*(Text(clean(cell)) for cell in row))
    if made.row_count:
        out.print(made)
    else:
        err.print(empty)


def note(text: str, style: str = "dim") -> None:
    err.print(Text(clean(text), style=style))


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
