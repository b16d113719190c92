"""One entry of a server list while it is read. What nobody asks for is named at the end, so that nothing is lost in
silence."""

import json
from collections.abc import Mapping
from typing import Any

from windlass.core.errors import BadInput


class ImportEntry:
    def __init__(self, fields: Mapping[Any, Any], path: str = "") -> None:
        self._left = {str(name): value for name, value in fields.items()}
        self._path = path
        self._inner: list[ImportEntry] = []
        self.had_content = bool(self._left)
        self.notes: list[str] = []

    def take(self, *names: str) -> Any:
        """The first of these that says something; another that says something too stays, and is named."""
        for name in names:
            if not _is_empty(self._left.get(name)):
                return self._left.pop(name)
        return None

    def inner(self, *names: str) -> "ImportEntry":
        name = next((name for name in names if isinstance(self._left.get(name), dict)), "")
        found = ImportEntry(self._left.pop(name) if name else {}, f"{self._path}{name}.")
        self._inner.append(found)
        return found

    def text(self, *names: str) -> str:
        value = self.take(*names)
        if value is None:
            return ""
        if isinstance(value, dict | list):
            raise BadInput(f"{names[0]}: must be text")
        return plain_text(value)

    def texts(self, *names: str) -> tuple[str, ...]:
        value = self.take(*names)
        if value is None:
            return ()
        if not isinstance(value, list) or any(item is None or isinstance(item, dict | list) for item in value):
            raise BadInput(f"{names[0]}: must be a list of texts")
        return tuple(plain_text(item) for item in value)

    def pairs(self, *names: str) -> dict[str, str]:
        value = self.take(*names)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise BadInput(f"{names[0]}: must be an object")
        if any(isinstance(item, dict | list) for item in value.values()):
            raise BadInput(f"{names[0]}: every value must be text")
        if empty := [str(name) for name, item in value.items() if item is None]:
            self.notes.append(f"{names[0]}: {', '.join(empty)} has no value and was left out.")
        return {str(name): plain_text(item) for name, item in value.items() if item is not None}

    def flag(self, *names: str) -> bool | None:
        value = self.take(*names)
        return value if isinstance(value, bool) or value is None else plain_text(value).lower() in ("true", "yes", "1")

    def number(self, *names: str) -> float | None:
        value = self.take(*names)
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = 0
        if not 0 < number < 1e9:
            self.notes.append(f"{names[0]}: it is no number of seconds or milliseconds, and was left out.")
            return None
        return number

    def named(self, why: str, *names: str) -> None:
        """Say of what is not taken why, and what to do instead."""
        for name in names:
            value = self.take(name)
            if value is not None and value is not False:
                self.notes.append(f"{name}{_content(value)}: not taken. {why}")

    @property
    def left(self) -> list[str]:
        own = [self._path + name for name, value in self._left.items() if not _is_empty(value)]
        return own + [name for one in self._inner for name in one.left]


def plain_text(value: object) -> str:
    """`true` as JSON writes it, not as Python does."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _is_empty(value: object) -> bool:
    return value is None or value == "" or value == [] or value == {}


def _content(value: object) -> str:
    """Names of tools and paths; nothing that could be a secret."""
    items = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    shown = ", ".join(str(item)[:60] for item in items[:10] if isinstance(item, str))
    return f" ({shown})" if shown else ""
