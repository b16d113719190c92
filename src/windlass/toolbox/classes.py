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
    verb = _verb(_words(tool.name), {term for name in server for term in _words(name)})
    arguments = _arguments(tool.input_schema)
    if tool.read_only is False or not _may_read(tool, verb, arguments):
        return ToolGuess(_beyond_reading(verb, arguments))
    if addresses := [name for name, described in arguments.items() if _is_address(name, described)]:
        alone = len(addresses) == 1 and not any(_steps(name) & verbs.REQUEST_PARTS for name in arguments)
        return ToolGuess("sends", addresses[0] if alone else "")
    return ToolGuess("reads")


def chooses_target(argument: str) -> bool:
    """Whether an argument of this name says who receives something, or where it goes."""
    return bool(_steps(argument) & (verbs.RECEIVERS | verbs.ADDRESSES | verbs.TARGETS))


def _may_read(tool: ToolDefinition, verb: str, arguments: Mapping[str, Any]) -> bool:
    if verb in verbs.CHANGING or verb in verbs.SENDING or tool.destructive:
        return False
    if any(_shows_change(name, described) for name, described in arguments.items()):
        return False
    if tool.read_only:
        return True
    if verb in verbs.COMPUTING:
        return not any(_steps(name) & verbs.FILES for name in arguments)
    if verb in verbs.QUERYING:
        return not _asks_a_database(tool, arguments)
    return verb in verbs.READING


def _beyond_reading(verb: str, arguments: Mapping[str, Any]) -> ToolClass:
    if verb in verbs.SENDING:
        return "sends"
    if verb in verbs.KEEPING_HERE:
        return "changes"
    receives = any(_steps(name) & verbs.RECEIVERS or _is_address(name, one) for name, one in arguments.items())
    return "sends" if receives else "changes"


def _words(name: str) -> list[str]:
    """`browser_click`, `listFiles`, `API-post-search`, `HTTPGet2` as words in lower case, without versions."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    words = [part.lower() for part in parts if not part.isdigit()]
    return [term for term in words if term != "v"]


def _verb(words: list[str], of_server: set[str]) -> str:
    """The term that says what is done: the first known verb, whatever the prefixes before it. After `and` or `or` comes
    another that counts if it changes something."""
    words = _without_phrases(words)
    found = [term for term in words if term in _KNOWN]
    found = [term for term in found if term not in of_server] or found  # a server may be called `search` or `fetch`
    if not found:
        return ""
    if "api" in words[:2] and found[0] == "post":  # generated from an HTTP API, where a search may be a POST
        return next((term for term in found[1:] if term in verbs.READING | verbs.QUERYING), "post")
    if found[0] in verbs.ALSO_NOUNS and words[-1] in verbs.ALWAYS_VERBS:  # `message_list`, `comment_delete`
        return words[-1]
    joined = [term for before, term in itertools.pairwise(words) if before in ("and", "or", "then")]
    further = next((term for term in joined if term in verbs.CHANGING | verbs.SENDING), "")
    if found[0] in verbs.NOUNS_AT_THE_END and words[-1] != found[0]:  # `git_log` reads, `log_event` does not
        return "add"
    return further or found[0]


def _without_phrases(words: list[str]) -> list[str]:
    text = " ".join(words)
    return _PHRASES.sub(lambda found: _PHRASE_TEXT.get(found[0].rstrip("s"), "thing"), text).split()


def _arguments(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    properties = (schema or {}).get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _steps(argument: str) -> set[str]:
    """The words of an argument's name that may say what it is: all of it, and its last one."""
    words = _words(argument)
    return {"_".join(words), words[-1], words[0]} if words else set()


def _is_address(name: str, described: Any) -> bool:
    words = _words(name)
    if not words or words[0] in ("include", "exclude"):
        return False
    if "_".join(words) in verbs.ADDRESSES or words[-1] in ("url", "urls", "uri", "uris"):
        return True
    return isinstance(described, Mapping) and described.get("format") in ("uri", "url", "hostname", "ipv4", "ipv6")


def _shows_change(name: str, described: Any) -> bool:
    words = _words(name)
    whole = "_".join(words)
    if whole in verbs.CHANGE_ARGUMENTS or (len(words) > 1 and words[0] in verbs.CHANGE_PREFIXES):
        return True
    if whole in verbs.CHOICES and isinstance(described, Mapping):
        return any(_changes(value) for value in _allowed_values(described))
    return False


def _allowed_values(described: Mapping[str, Any]) -> Iterator[str]:
    for branch in (described, *(one for one in described.get("anyOf") or () if isinstance(one, Mapping))):
        values = branch.get("enum")
        yield from (value for value in (values if isinstance(values, list) else ()) if isinstance(value, str))


def _changes(value: str) -> bool:
    verb = _verb(_words(value), set())
    return verb in verbs.CHANGING or verb in verbs.SENDING


def _asks_a_database(tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
    """A statement may do anything; a question to a search engine may not."""
    about = set(_words(tool.name))
    return bool(set(arguments) & {"sql", "statement", "cypher", "graphql", "mutation"}) or bool(about & verbs.DATABASES)


_KNOWN = verbs.READING | verbs.QUERYING | verbs.COMPUTING | verbs.CHANGING | verbs.SENDING
_PHRASE_TEXT = {"take screenshot": "screenshot", "take snapshot": "snapshot", "resolve library": "lookup"}
_PHRASES = re.compile(
    r"\b(?:pull requests?|merge requests?|change requests?|take screenshots?|take snapshots?|resolve library|"
    r"commit history|post office|web hooks?|check (?:in|out)s?|call graph|link previews?|tag manager)\b"
)
