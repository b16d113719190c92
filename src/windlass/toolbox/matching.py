"""How a rule's globs are compared with the arguments of a call. Pure.

What denies or asks must not be dodged by another spelling: it is compared with the value and with its normal form, and
a spelling that hides something counts as a match. What allows is compared with the value as it stands, and a value that
can be read in two ways does not match."""

import json
import re
import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

ANY = "*"
_ROUNDS = 5  # of decoding
_LONGEST = 1 << 20  # of a value that is normalised; a longer one hides
_WEB = re.compile(r"(https?://)([^?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_AUTHORITY = re.compile(r"\s*https?:([/\\\s]*)([^/?#\\ ]*)", re.IGNORECASE)
# Userinfo, a port that may be left out, white space that browsers skip, dots of other scripts, a dot at the end.
_ODD_AUTHORITY = re.compile("[@\t\r\n\u3002\uff0e\uff61]|:(?:80|443)?$|\\.$")
_FILE = re.compile(r"file:(?://[^/]*)?(?=/)", re.IGNORECASE)
_DRIVE = re.compile(r"[a-z]:\\(?!\\)", re.IGNORECASE)
_SELF = re.compile(r"/proc/[^/]+(?:/task/[^/]+)?/(?:root|cwd)(?=/|$)")
# Letters, digits, -._~ and the separators: nothing that an ordinary address escapes.
_ESCAPED_LETTER = re.compile(r"%(?:[01][0-9a-f]|2[5def]|3[0-9]|[46][1-9a-f]|5[0-9acf]|7[0-9aef])", re.IGNORECASE)
_INVISIBLE = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\ue000-\uf8ff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_IN_PICTURES = re.compile("[\u200d\ufe0e\ufe0f]")  # they join the parts of one emoji: removed, but not suspicious


def caught_by(globs: Mapping[str, str], arguments: Any, defaults: Mapping[str, Any]) -> bool:
    """Whether a rule that denies or asks matches: each argument that it names does. An absent one is compared as the
    default that the server uses instead."""
    return all(_is_caught(where, glob, arguments, defaults) for where, glob in globs.items())


def allowed_by(
    globs: Mapping[str, str], arguments: Any, defaults: Mapping[str, Any], free: Container[str] | None = None
) -> bool:
    """Whether a rule that allows matches: each argument that it names does, and every other one is absent or equal to
    its default, unless it is `free`."""
    for where, glob in globs.items():
        found, value = (True, arguments) if where == ANY else _at(arguments, where)
        if not found or not _plainly(value, glob):
            return False
    if ANY in globs or not isinstance(arguments, dict):
        return True
    named = [_steps(where) for where in globs]
    return all(
        _covered((name,), value, named)
        or (name in defaults and defaults[name] == value)
        or (free is not None and name in free)
        for name, value in arguments.items()
    )


@lru_cache(maxsize=1024)
def properties_of(schema: str) -> Mapping[str, Any]:
    try:
        properties = json.loads(schema).get("properties", {})
    except (ValueError, AttributeError):
        return {}
    return properties if isinstance(properties, dict) else {}


@lru_cache(maxsize=1024)
def defaults_in(schema: str) -> Mapping[str, Any]:
    return {
        name: described["default"]
        for name, described in properties_of(schema).items()
        if isinstance(described, dict) and "default" in described
    }


def normal(text: str) -> str:
    """One spelling for all that mean the same: letters folded, escapes decoded, invisible characters left out, and a
    path without detours."""
    for _ in range(_ROUNDS):
        before = text
        text = text if text.isascii() else _IN_PICTURES.sub("", unicodedata.normalize("NFKC", text))
        text = unquote(_INVISIBLE.sub("", text))
        if text == before:
            break
    text = _FILE.sub("", text.strip()).replace("\\", "/")
    web = _WEB.fullmatch(text)
    return (f"{web[1]}{_without_detours(web[2])}{web[3]}" if web else _without_detours(text)).casefold()


def hides(text: str) -> bool:
    """Whether two programs may read two things in it: a path that climbs or has detours, escaped letters, invisible or
    look-alike characters. Case and the escapes of ordinary addresses do not count, nor do look-alikes in prose, which
    is compared in its normal form all the same."""
    if len(text) > _LONGEST or _INVISIBLE.search(text) or _has_odd_host(text):
        return True
    web = _WEB.fullmatch(text)
    path = web[2] if web else text
    if "%" in path and _ESCAPED_LETTER.search(path):
        return True
    if _climbs(unquote(path)) or (web and _climbs(web[3])):
        return True
    if any(letter.isspace() for letter in text):  # prose
        return False
    look_alikes = not text.isascii() and unicodedata.normalize("NFKC", text) != unicodedata.normalize("NFC", text)
    return look_alikes or _has_detours(path)


def _has_odd_host(text: str) -> bool:
    """Whether an address names its host in another way than most: programs read that differently."""
    found = _AUTHORITY.match(text)
    return found is not None and (found[1] != "//" or _ODD_AUTHORITY.search(found[2]) is not None)


def _is_caught(where: str, glob: str, arguments: Any, defaults: Mapping[str, Any]) -> bool:
    if where == ANY:
        absent = [value for name, value in defaults.items() if name not in arguments]
        return _as_json_fits(arguments, glob) or any(_suspected(text, glob) for text in _strings([arguments, absent]))
    found, value = _at(arguments, where)
    if not found and where.removeprefix("/") in defaults:
        found, value = True, defaults[where.removeprefix("/")]
    if not found:
        return False
    fits = not isinstance(value, str) and _as_json_fits(value, glob)
    return fits or any(_suspected(text, glob) for text in _strings(value))


def _suspected(text: str, glob: str) -> bool:
    if fnmatchcase(text, glob) or hides(text):
        return True
    folded = normal(text)
    # `/etc/*` means the folder too, and a glob with a detour in it means the path without.
    return any(fnmatchcase(form, one) for one in _folded_globs(glob) for form in (folded, f"{folded}/"))


@lru_cache(maxsize=4096)
def _folded_globs(glob: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKC", glob).casefold()
    web = _WEB.fullmatch(folded)
    straight = f"{web[1]}{_without_detours(web[2])}{web[3]}" if web else _without_detours(folded)
    return (folded,) if straight == folded else (folded, straight)


def _as_json_fits(value: Any, glob: str) -> bool:
    whole = int(value) if isinstance(value, float) and value.is_integer() else value  # 22.0 is 22 for most servers
    texts = (_json(value), _json(whole))
    return any(fnmatchcase(text, glob) or fnmatchcase(text.casefold(), glob.casefold()) for text in texts)


def _plainly(value: Any, glob: str) -> bool:
    if glob == ANY:
        return True
    if isinstance(value, list) and value and all(isinstance(one, str) and _plainly(one, glob) for one in value):
        return True
    text = value if isinstance(value, str) else _json(value)
    return fnmatchcase(text, glob) and not any(hides(one) or _has_backslashes(one) for one in _strings(value))


def _strings(value: Any) -> Iterator[str]:
    """Every string in it, names of fields too. Without recursion: arguments may be nested as deep as a server likes."""
    left = [value]
    while left:
        match left.pop():
            case str() as text:
                yield text
            case dict() as fields:
                left += [*fields, *fields.values()]
            case list() as values:
                left += values


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _steps(where: str) -> tuple[str, ...]:
    steps = where.split("/")[1:] if where.startswith("/") else [where]
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)


def _at(value: Any, where: str) -> tuple[bool, Any]:
    for step in _steps(where):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False, None
    return True, value


def _covered(path: tuple[str, ...], value: Any, named: Sequence[tuple[str, ...]]) -> bool:
    """Whether the rule names this value, or every value inside it."""
    if path in named:
        return True
    if not any(steps[: len(path)] == path for steps in named):
        return False
    match value:
        case dict() as fields if fields:
            return all(_covered((*path, name), inner, named) for name, inner in fields.items())
        case list() as values if values:
            return all(_covered((*path, str(index)), inner, named) for index, inner in enumerate(values))
    return False


def _without_detours(path: str) -> str:
    """Climbing stops at the root. Where a link leads only the file system knows, so a path that climbs `hides`."""
    if "/" not in path:
        return path
    kept: list[str] = []
    for step in path.split("/"):
        if step == "..":
            kept = kept[:-1]
        elif step not in ("", "."):
            kept.append(step)
    joined = ("/" if path.startswith("/") else "") + "/".join(kept)
    while found := _SELF.match(joined):
        joined = joined[found.end() :] or "/"
    return joined or "/"


def _climbs(text: str) -> bool:
    return ".." in text.replace("\\", "/").split("/")


def _has_detours(path: str) -> bool:
    return "//" in path or "/./" in path or path.endswith("/.") or _SELF.match(path) is not None


def _has_backslashes(text: str) -> bool:
    return "\\" in text and not _DRIVE.match(text)
