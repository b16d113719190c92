"""The text of another client's configuration as a document: JSON with comments and trailing commas, TOML or YAML.
People paste, so a fence of Markdown around it and a piece without its outer braces are read too."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, time
from textwrap import dedent
from typing import Any

import yaml

from windlass.core.errors import BadInput
from windlass.core.values import value_object

LARGEST = 20 << 20
LARGEST_OTHER = 256 << 10  # of YAML and TOML, which are read more slowly
MOST_DOTS = 200  # in one line of TOML
# Possessive: on text without an end they give up at once instead of trying every shorter way.
_TEXT = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_COMMENT = re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_TEXT}|,(?=\s*+(?:[}}\]]|\Z))", re.DOTALL)
_FENCE = re.compile(r"\A```[\w-]*+[^\S\n]*+\n(.*?)\n?```\s*\Z", re.DOTALL)
_TABLE = re.compile(r"^[ \t]*+\[{1,2}[\w.\"' -]+\]{1,2}\s*(?:#.*)?$", re.MULTILINE)


@value_object
class ReadText:
    document: object
    repeated: tuple[str, ...] = ()  # names that stand twice in one object, where the last one counts


def read_text(text: str | bytes) -> ReadText:
    """Raises `BadInput` with the fault and where it is."""
    if len(text) > LARGEST:
        raise BadInput("The import is larger than 20 MiB.", hint="Split it into several files.", code="too_large")
    whole = _decoded(text).removeprefix("\ufeff")
    if fenced := _FENCE.match(whole.strip()):
        whole = fenced[1]
    plain = whole.strip()
    if not plain:
        raise BadInput("The import is empty.")
    start = _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else "", plain[:100_000]).lstrip()
    if start.startswith(("{", "[")) and not _TABLE.match(plain):
        return _json_alone(plain)
    if plain.startswith('"') and (found := _tried(_json, "{" + plain.rstrip(",") + "}")):
        return found
    return _toml_or_yaml(whole)


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except ValueError:
        raise BadInput("The import is not text in UTF-8.") from None


def _json_alone(text: str) -> ReadText:
    try:
        return _json(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"The import is not valid JSON: {error}") from None


def _toml_or_yaml(text: str) -> ReadText:
    if len(text) > LARGEST_OTHER:
        raise BadInput("The import is larger than 256 KiB.", hint="Leave out what is not about servers.")
    text = dedent(text)  # a piece of a file keeps its indentation
    is_toml = _TABLE.search(text) is not None
    try:
        return _toml(text)
    except (ValueError, RecursionError) as error:
        if is_toml:
            raise BadInput(f"The import is not valid TOML: {error}") from None
    try:
        return ReadText(_yaml(text))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"The import is not valid JSON, TOML or YAML: {_fault(error)}") from None


def _tried(read: Callable[[str], ReadText], text: str) -> ReadText | None:
    try:
        return read(text)
    except (ValueError, RecursionError):
        return None


def _json(text: str) -> ReadText:
    repeated: list[str] = []

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            counted = Counter(name for name, _ in pairs)
            repeated.extend(name for name, count in counted.items() if count > 1)
        return made

    try:
        document = json.loads(text, object_pairs_hook=noted)
    except ValueError:
        repeated.clear()
        document = json.loads(_plain_json(text), object_pairs_hook=noted)
    return ReadText(document, tuple(repeated))


def _plain_json(text: str) -> str:
    """Editors allow comments, and a comma after the last of a list, in their settings."""
    bare = _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    return _LAST_COMMA.sub(lambda found: "" if found[0] == "," else found[0], bare)


def _toml(text: str) -> ReadText:
    # Its reader takes the square of a key's depth.
    if any(line.count(".") > MOST_DOTS for line in text.splitlines()):
        raise ValueError(f"a line has more than {MOST_DOTS} dots")
    return ReadText(_without_dates(tomllib.loads(text)))


def _without_dates(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_dates(item) for name, item in value.items()}
        case list():
            return [_without_dates(item) for item in value]
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return value


class _TextLoader(yaml.SafeLoader):
    """Values stay as they are written: 1.10 is a version, `no` is text, and 2026-01-01 no date. Merge keys and
    aliases are not followed: a short text of them can stand for a document of any size."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own name and form

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            problem = f"aliases such as *{event.anchor} are not read; write out what it stands for"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)


_TextLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:true|True|false|False)\Z"), list("tTfF"))
_TextLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|)\Z"), ["~", "n", "N", ""])


def _yaml(text: str) -> object:
    return yaml.load(text, _TextLoader)  # noqa: S506 - a SafeLoader with fewer types


def _fault(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"line {error.problem_mark.line + 1}: {error.problem}"[:300]
    return " ".join(str(error).split())[:300]
