"""What a tool does, guessed from what it says of itself: it reads, it changes something, or it sends something to a
receiver that its arguments choose. Pure.

Hints decide where the server is trusted. Elsewhere a read-only hint counts unless the name's verb or an argument shows
otherwise; without hints the verb decides; with neither, the tool changes something. The guess errs towards asking: it
guards honest servers against injected text, it does not make a lying server harmless."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from windlass.core.messages import ToolClass
from windlass.core.values import value_object
from windlass.servers.values import ToolDefinition
from windlass.toolbox import verbs


@value_object
class ToolGuess:
    kind: ToolClass
    address: str = ""  # the argument with the address, of a tool that only fetches it


def guess(tool: ToolDefinition, *, trusted: bool = False, server: Iterable[str] = ()) -> ToolGuess:
    """`server` holds the server's own names, which some put in front of each tool's."""
    if trusted and tool.read_only:
        return ToolGuess("reads")
    terms = _without_phrases(_words(tool.name))
    arguments = _arguments(tool.input_schema)
    verb = _verb(terms, {term for name in server for term in _words(name)})
    if tool.read_only is False or not _may_read(tool, verb, terms, arguments):
        return ToolGuess(_beyond_reading(verb, arguments))
    if addresses := [argument.name for argument in arguments if _is_address(argument, tool.read_only is True)]:
        alone = len(addresses) == 1 and not any(_steps(argument.name) & verbs.REQUEST_PARTS for argument in arguments)
        return ToolGuess("sends", addresses[0] if alone else "")
    return ToolGuess("reads")


def chooses_target(argument: str) -> bool:
    """Whether an argument of this name says who receives something, or where it goes."""
    targets = verbs.RECEIVERS | verbs.ADDRESSES | verbs.TARGETS | verbs.FILES | verbs.FILE_NAMES | verbs.PLACES
    return bool(_steps(argument) & targets)


@value_object
class _Argument:
    name: str
    described: Mapping[str, Any]
    required: bool = False


def _may_read(tool: ToolDefinition, verb: str, terms: list[str], arguments: list[_Argument]) -> bool:
    if tool.destructive or verb in verbs.CHANGING or verb in verbs.SENDING:
        return False
    if any(_shows_change(argument, verb) for argument in arguments):
        return False
    if tool.read_only:
        return True
    given = {"_".join(_words(argument.name)) for argument in arguments}
    if verb in verbs.COMPUTING:
        return not (given & verbs.CODE or any(_steps(argument.name) & verbs.FILES for argument in arguments))
    if verb in verbs.QUERYING:
        return not _asks_a_database(terms, given)
    if verb in verbs.NOUNS and given & verbs.CONTENTS:  # `log` with a message, `status` with a text
        return False
    if verb == "check" and given & verbs.ELEMENTS:  # a box on a page
        return False
    return verb in verbs.READING


def _beyond_reading(verb: str, arguments: list[_Argument]) -> ToolClass:
    if verb in verbs.SENDING:
        return "sends"
    if verb in verbs.KEEPING_HERE:
        return "changes"
    receives = any(_steps(argument.name) & verbs.RECEIVERS or _is_address(argument) for argument in arguments)
    return "sends" if receives else "changes"


def _words(name: str) -> list[str]:
    """`browser_click`, `listFiles`, `API-post-search`, `HTTPGet2` as words in lower case, without versions."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    words = [part.lower() for part in parts if not part.isdigit()]
    return [term for term in words if term != "v"]


def _verb(terms: list[str], of_server: set[str]) -> str:
    """What is done: the first known verb, whatever the prefixes before it. A verb that changes something counts also
    where it comes later, unless it can be the object of the first: `get_commit` reads, `find_and_replace` does not."""
    found = [term for term in terms if term in _KNOWN]
    found = [term for term in found if term not in of_server] or found  # a server may be called `search` or `fetch`
    if not found:
        return "info" if terms and terms[-1] in verbs.INFORMATION else ""
    first, last = found[0], terms[-1]
    if "api" in terms[:2] and first == "post":  # generated from an HTTP API, where a search may be a POST
        return next((term for term in found[1:] if term in verbs.READING | verbs.QUERYING), "post")
    if first in ("execute", "run") and not verbs.QUERY_LANGUAGES.isdisjoint(terms):
        return "query"
    if first in verbs.ALSO_NOUNS and last in verbs.ALWAYS_VERBS:  # `message_list`, `comment_delete`
        return last
    later = [term for before, term in itertools.pairwise(terms) if before in ("and", "or", "then")]
    later += [last] if last in verbs.CHANGING_AT_THE_END else []
    later += found[1:] if first not in verbs.TRANSITIVE else []
    later += ["add"] if first == "log" and last != "log" else []  # `git_log` reads, `log_event` does not
    if first == "show" and not verbs.NOTICES.isdisjoint(terms):
        return "notify"
    if first == "extract" and not verbs.ARCHIVES.isdisjoint(terms):
        return "write"
    return next((term for term in later if term in verbs.CHANGING | verbs.SENDING), first)


def _without_phrases(words: list[str]) -> list[str]:
    text = " ".join(words)
    return _PHRASES.sub(lambda found: _PHRASE_TEXT.get(found[0].rstrip("s"), "thing"), text).split()


def _arguments(schema: Mapping[str, Any] | None, depth: int = 3) -> list[_Argument]:
    """Those inside of other arguments too: `params` alone says nothing."""
    properties, required = (schema or {}).get("properties"), (schema or {}).get("required")
    found: list[_Argument] = []
    for name, given in properties.items() if isinstance(properties, Mapping) else ():
        described = given if isinstance(given, Mapping) else {}
        found.append(_Argument(name, described, isinstance(required, list) and name in required))
        if depth:
            items = described.get("items")
            found += _arguments(described, depth - 1)
            found += _arguments(items if isinstance(items, Mapping) else None, depth - 1)
    return found


def _steps(argument: str) -> set[str]:
    """What may say what an argument is: its whole name, its last term and its first."""
    words = _words(argument)
    return {"_".join(words), words[-1], words[0]} if words else set()


def _is_address(argument: _Argument, read_only: bool = False) -> bool:
    words = _words(argument.name)
    if not words or words[0] in ("include", "exclude"):
        return False
    if read_only and not argument.required and len(words) > 1 and words[0] in verbs.OF_THE_SERVICE:
        return False  # `issueUrl`, instead of its id
    if "_".join(words) in verbs.ADDRESSES or words[-1] in ("url", "urls", "uri", "uris"):
        return True
    return argument.described.get("format") in ("uri", "url", "hostname", "ipv4", "ipv6")


def _shows_change(argument: _Argument, verb: str) -> bool:
    words = _words(argument.name)
    whole = "_".join(words)
    if whole in ("destination", "dest") and verb in verbs.OF_JOURNEYS:
        return False
    if whole in verbs.CHANGE_ARGUMENTS or (len(words) > 1 and words[0] in verbs.CHANGE_PREFIXES):
        return True
    if not argument.required and whole in verbs.FILE_NAMES and verb in verbs.CAPTURING:
        return True
    if whole in verbs.CHOICES:
        return any(_changes(value) for value in _allowed_values(argument.described))
    return False


def _allowed_values(described: Mapping[str, Any]) -> Iterator[str]:
    for branch in (described, *(one for one in described.get("anyOf") or () if isinstance(one, Mapping))):
        values = branch.get("enum")
        yield from (value for value in (values if isinstance(values, list) else ()) if isinstance(value, str))


def _changes(value: str) -> bool:
    verb = _verb(_without_phrases(_words(value)), set())
    return verb in verbs.CHANGING or verb in verbs.SENDING


def _asks_a_database(terms: list[str], arguments: set[str]) -> bool:
    """A statement may do anything; a question to a search engine may not."""
    about = {term for name in arguments for term in _words(name)} | set(terms)
    return not about.isdisjoint(verbs.DATABASES)


_KNOWN = verbs.READING | verbs.QUERYING | verbs.COMPUTING | verbs.CHANGING | verbs.SENDING | verbs.NEUTRAL
_PHRASE_TEXT = {
    "take screenshot": "screenshot",
    "take snapshot": "snapshot",
    "resolve library": "lookup",
    "git fetch": "pull",
    "reverse geocode": "geocode",
}
_PHRASES = re.compile(
    r"\b(?:pull requests?|merge requests?|change requests?|take screenshots?|take snapshots?|resolve library|git fetch|"
    r"reverse geocode|commit history|web hooks?|check (?:in|out)s?|call graph|link previews?)\b"
)
