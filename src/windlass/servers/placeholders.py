"""Parts of a server's configuration that a person fills in: `${env:TOKEN}`, `${input:key}`, `${HOME}` and their like,
as other clients write them. None is ever looked up in our environment. One that is no secret is replaced for good
when it is given, so that a command is confirmed as it will run; a secret one stays in the text, and its value in the
vault."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from windlass.core.errors import BadInput
from windlass.core.values import value_object
from windlass.servers.code_arguments import code_arguments
from windlass.servers.environment import is_secret

_INNER = r"(?:[^{}]|\$\{[^{}]*\})+"
PATTERN = re.compile(
    r"\$\{\{\s*(?P<store>secrets|inputs)\.(?P<stored>[\w.-]+)\s*\}\}"
    rf"|\$\{{(?P<inner>{_INNER})\}}"
    r"|\{(?P<source>env|file):(?P<named>[^{}]+)\}"
    r"|\{\{(?P<user>[A-Za-z_]\w*)\}\}"
    r"|(?<![^\s=:/,])\$(?P<bare>[A-Z_][A-Z0-9_]+)\b"
)
_FOLDERS = {
    "workspaceFolder": "Folder of the project",
    "workspaceRoot": "Folder of the project",
    "workspaceFolderBasename": "Name of the project's folder",
    "userHome": "Your home folder",
    "HOME": "Your home folder",
    "cwd": "Folder it starts in",
}
_SEPARATORS = {"/", "pathSeparator"}
_SHOWN = ("command", "folder")  # these parts of a command are always confirmed as they will be
MOST_PLACEHOLDERS = 200  # of one server, each spelling counted


@value_object
class Placeholder:
    name: str
    texts: tuple[str, ...]  # as it stands in the configuration, in each of its spellings
    label: str = ""
    secret: bool = False
    default: str | None = None  # proposed to the person; with one, an empty value counts as given
    where: tuple[str, ...] = ()
    value: str = ""  # of a secret that was given: the vault's reference

    @property
    def is_filled(self) -> bool:
        return bool(self.value)

    @property
    def changes_the_command(self) -> bool:
        """Another value means another command, which is confirmed again."""
        return any(part.startswith("argument") or _is_plain_variable(part) for part in self.where)


@value_object
class InputHint:
    """What a file says about one of its placeholders."""

    label: str = ""
    secret: bool = False
    default: str | None = None


def placeholders_in(
    parts: Iterable[tuple[str, str]], url: str, hints: Mapping[str, InputHint]
) -> tuple[Placeholder, ...]:
    """`parts` are texts with where they stand. A default that a file proposes for a secret is left out: nobody would
    see it before it runs. Raises `BadInput` where there are too many."""
    parts = list(parts)
    found: dict[str, Placeholder] = {}
    texts: dict[str, dict[str, None]] = {}
    where: dict[str, dict[str, None]] = {}
    for position, text in parts:
        for match in {found[0]: found for found in PATTERN.finditer(text)}.values():
            name, default, label, secret = _read(match)
            hint = hints.get(name, InputHint())
            before = found.get(name) or Placeholder(
                name, (), hint.label or label, secret or hint.secret or _names_secret(name), hint.default
            )
            hides = position.startswith("header ") or position == "client secret" or _in_secret(position)
            found[name] = replace(
                before,
                default=default if before.default is None else before.default,
                secret=before.secret or hides,
            )
            texts.setdefault(name, {})[match[0]] = None
            where.setdefault(name, {})[position] = None
        if sum(map(len, texts.values())) > MOST_PLACEHOLDERS:
            raise BadInput(f"It has more than {MOST_PLACEHOLDERS} different placeholders.")
    shown, host = {*_SHOWN, *code_arguments(parts)}, _host_part(url)
    whole = (replace(one, texts=tuple(texts[name]), where=tuple(where[name])) for name, one in found.items())
    return tuple(_as_asked_for(one, shown, host) for one in whole)


def _as_asked_for(one: Placeholder, shown: Collection[str], host: str) -> Placeholder:
    """Nobody confirms a program, code or a host that is hidden."""
    secret = one.secret and not (
        any(part in shown for part in one.where) or ("url" in one.where and any(text in host for text in one.texts))
    )
    return replace(one, secret=secret, default=None if secret and one.default else one.default)


def fill(text: str, values: Mapping[str, str]) -> str:
    """In one pass: what a value contains is not filled again."""
    return PATTERN.sub(lambda found: values.get(found[0], found[0]), text) if values else text


def given_values(
    placeholders: Iterable[Placeholder], values: Mapping[str, str]
) -> tuple[tuple[Placeholder, ...], dict[str, str]]:
    """What is left of the placeholders, secrets with their plain values, and by what the others are replaced. Raises
    `BadInput` for a name nobody asks for."""
    known = {one.name: one for one in placeholders}
    if unknown := sorted(set(values) - known.keys()):
        asked = ", ".join(known) or "none"
        raise BadInput(f"values: nothing asks for {', '.join(unknown)}.", hint=f"Values that are asked for: {asked}.")
    replaced: dict[str, str] = {}
    left: list[Placeholder] = []
    for one in known.values():
        value = values.get(one.name)
        if value is None:
            left.append(one)
            continue
        _check(one, value)
        if one.secret and value:
            left.append(replace(one, value=value))
        else:
            replaced |= dict.fromkeys(one.texts, value)
    return tuple(left), replaced


def unfilled(placeholders: Iterable[Placeholder], reference: Callable[[str], str]) -> tuple[Placeholder, ...]:
    """Without the secrets that are kept already; those that were just given stay."""
    return tuple(replace(one, value="") if one.value == reference(one.name) else one for one in placeholders)


def remaining(placeholders: Iterable[Placeholder], texts: Iterable[str]) -> tuple[Placeholder, ...]:
    """Those that still stand somewhere: the others were overwritten by hand."""
    every = "\n".join(texts)
    return tuple(one for one in placeholders if any(text in every for text in one.texts))


def _read(match: re.Match[str]) -> tuple[str, str | None, str, bool]:
    """Name, default, label and whether it is a secret by its kind."""
    if stored := match["stored"]:
        return stored, None, stored, match["store"] == "secrets"
    if named := match["named"]:
        is_file = match["source"] == "file"
        return named, None, f"Content of the file {named}" if is_file else _of_variable(named), False
    if plain := match["user"] or match["bare"]:
        return plain, None, _FOLDERS.get(plain) or _of_variable(plain), False
    return _read_inner(match["inner"])


def _read_inner(inner: str) -> tuple[str, str | None, str, bool]:
    inner, has_default, default = inner.partition(":-")
    kind, colon, name = inner.partition(":")
    known_default = default if has_default and not PATTERN.search(default) else None
    if inner in _SEPARATORS:
        return inner, os.sep, "Separator of folders", False
    if kind in _FOLDERS:
        return inner, known_default, _FOLDERS[kind] + (f" {name}" if name else ""), False
    if not colon:
        return inner, known_default, _of_variable(inner), False
    if kind == "env":
        return name, known_default, _of_variable(name), False
    if kind == "input":
        return name, known_default, name, False
    return inner, known_default, f"What {kind} {name} gives", False


def _of_variable(name: str) -> str:
    return f"Value of {name}"


def _names_secret(name: str) -> bool:
    """Names of inputs are written in every style: api-key, apiKey, API_KEY."""
    return is_secret(re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)))


def _in_secret(where: str) -> bool:
    return where.startswith("env ") and is_secret(where.removeprefix("env "))


def _is_plain_variable(where: str) -> bool:
    return where.startswith("env ") and not _in_secret(where)


def _host_part(url: str) -> str:
    """Everything before the path; a placeholder may hold slashes and question marks of its own."""
    bare = PATTERN.sub(lambda found: "x" * len(found[0]), url)
    try:
        path = urlsplit(bare).path
    except ValueError:
        return url
    query = bare.find("?") if "?" in bare else len(bare)
    end = bare.find("/", bare.find("://") + 3 if "://" in bare else 0) if path else query
    return url[: end if end >= 0 else query]


def _check(one: Placeholder, value: str) -> None:
    if not value and one.default is None:
        raise BadInput(f"values: {one.name} is empty.", detail={"field": "values"})
    if "\0" in value or (one.secret and any(letter in value for letter in "\r\n") and _goes_into_header(one)):
        raise BadInput(f"values: {one.name} holds a character that cannot be sent.", detail={"field": "values"})


def _goes_into_header(one: Placeholder) -> bool:
    return any(part.startswith("header ") for part in one.where)
