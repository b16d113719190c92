"""`windlass.toml` as a backup may hold it: without the keys that are written in it.

The file is parsed and written again, so that no layout hides a key. Comments go too: an old key often stays in one."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from windlass.core.values import value_object

LEFT_OUT = "LEFT-OUT-OF-BACKUP"
HEAD = "# Written by `windlass backup` without keys and comments. Set again what was left out.\n"
SHORTEST_SWEPT = 8  # a shorter value occurs in too much harmless text
_ALL_SECRET = ("env", "headers")  # tables of servers whose values are all treated as keys
_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth|header", re.IGNORECASE)
_REFERENCE = re.compile(r"env:[A-Za-z_]\w*|file:.+")
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|rk|key|tvly|glpat|xox[a-z]|gh[a-z]|github_pat|hf|npm|AIza|AKIA|eyJ)[-_.]?[\w.=+/-]{12,}|\bBearer\s+\S+"
)
_LIKE_RANDOM = re.compile(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[\w-]{20,}")
_PLAIN_NAME = re.compile(r"[\w-]+")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@value_object
class Cleaned:
    text: str
    left_out: tuple[str, ...]  # the settings' paths, for a person
    key_files: frozenset[Path]  # files that hold keys, by reference


def without_secrets(text: str) -> Cleaned:
    """Raises `tomllib.TOMLDecodeError` for text that is not TOML."""
    cleaner = _Cleaner()
    table = cleaner.swept(cleaner.table(tomllib.loads(text)))
    commented = "#" in text
    if not cleaner.left_out and not commented:
        return Cleaned(text, (), frozenset(cleaner.key_files))
    left_out = (*cleaner.left_out, *(["comments"] if commented else ()))
    return Cleaned(HEAD + "\n".join(_lines(table)) + "\n", left_out, frozenset(cleaner.key_files))


class _Cleaner:
    """A secret is replaced by None, which is written as a comment; one inside a list or a text by `LEFT_OUT`."""

    def __init__(self) -> None:
        self.left_out: list[str] = []
        self.key_files: list[Path] = []
        self._secrets: set[str] = set()

    def table(self, table: dict[str, Any], path: str = "", all_secret: bool = False) -> dict[str, Any]:
        return {name: self._value(value, f"{path}{name}", name, all_secret) for name, value in table.items()}

    def _value(self, value: Any, path: str, name: str, all_secret: bool) -> Any:
        is_rule = path.startswith("policy")  # without a condition it would hold for more calls
        match value:
            case dict():
                return self.table(value, f"{path}.", all_secret or name in _ALL_SECRET)
            case list():
                return [self._entry(value, index, f"{path}[{index}]", all_secret) for index in range(len(value))]
            case str() if _REFERENCE.fullmatch(value):
                self._note_key_file(value)
                return value
            case str() if value and not is_rule and (all_secret or _SECRET_NAME.search(name)):
                return self._leave_out(value, path)
            case str():
                return self._text(value, path)
        return value

    def _entry(self, values: list[Any], index: int, path: str, all_secret: bool) -> Any:
        """An argument after `--api-key` is a key."""
        value = values[index]
        flag = str(values[index - 1]) if index else ""
        if isinstance(value, str) and flag.startswith("-") and "=" not in flag and _SECRET_NAME.search(flag):
            self._leave_out(value, path)
            return LEFT_OUT
        found = self._value(value, path, "", all_secret)
        return LEFT_OUT if found is None else found

    def _leave_out(self, secret: str, path: str) -> None:
        self._hide(secret)
        self.left_out.append(path)

    def _text(self, text: str, path: str) -> str:
        cleaned = self._inner(text)
        if cleaned != text:
            self.left_out.append(path)
        return cleaned

    def _inner(self, text: str) -> str:
        """A key may stand in the middle: `TOKEN=...`, a password, a query or random letters in an address."""
        name, equals, rest = text.partition("=")
        if equals and _PLAIN_NAME.fullmatch(name):
            return f"{name}={self._hide(rest) if _SECRET_NAME.search(name) else self._inner(rest)}"
        cleaned = self._address(text) if "://" in text else text
        return _LOOKS_LIKE_KEY.sub(lambda found: self._hide(found[0]), cleaned)

    def _address(self, text: str) -> str:
        try:
            parts = urlsplit(text)
        except ValueError:
            return self._hide(text)
        user, at, host = parts.netloc.rpartition("@")
        segments = (self._hide(one) if _LIKE_RANDOM.fullmatch(one) else one for one in parts.path.split("/"))
        pairs = (pair.partition("=") for pair in parts.query.split("&") if pair)
        query = "&".join(f"{name}={self._hide(value)}" for name, _, value in pairs)
        netloc = f"{self._hide(user.rpartition(':')[2])}@{host}" if at else host
        return urlunsplit((parts.scheme, netloc, "/".join(segments), query, self._hide(parts.fragment)))

    def _hide(self, secret: str) -> str:
        """What stands in its place. `Bearer KEY` is remembered as KEY too."""
        self._secrets |= {part for part in (secret, *secret.split()[-1:]) if len(part) >= SHORTEST_SWEPT}
        return LEFT_OUT if secret else ""

    def _note_key_file(self, reference: str) -> None:
        kind, _, where = reference.partition(":")
        if kind == "file":
            self.key_files.append(Path(where).expanduser().resolve())

    def swept(self, value: Any) -> Any:
        """Without what was a secret elsewhere: the same key may stand in a name, too."""
        match value:
            case dict():
                return {self.swept(name): self.swept(one) for name, one in value.items()}
            case list():
                return [self.swept(one) for one in value]
            case str():
                for secret in self._secrets:
                    value = value.replace(secret, LEFT_OUT)
        return value


def _lines(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """Plain values first: after a table's head they would belong to that table."""
    for name, value in table.items():
        if value is None:
            yield f"# {_key(name)} was left out"
        elif not isinstance(value, dict) and not _is_tables(value):
            yield f"{_key(name)} = {_written(value)}"
    for name, value in table.items():
        inner = (*path, name)
        if isinstance(value, dict):
            yield f"\n[{'.'.join(map(_key, inner))}]"
            yield from _lines(value, inner)
        elif _is_tables(value):
            for one in value:
                yield f"\n[[{'.'.join(map(_key, inner))}]]"
                yield from _lines(one, inner)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _written(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case list():
            return f"[{', '.join(_written(one) for one in value)}]"
        case dict():
            pairs = (f"{_key(name)} = {_written(one)}" for name, one in value.items() if one is not None)
            return f"{{ {', '.join(pairs)} }}"
    return str(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """JSON's escapes are TOML's too; only DEL must be escaped as well."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
