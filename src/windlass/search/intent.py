"""Whether a message asks for the web. Pure: the `//` prefix, the request's own word, and a gate for small talk, which
no search engine needs to hear."""

import re
from typing import Literal

from windlass.core.errors import BadInput
from windlass.core.events import Search
from windlass.core.values import value_object
from windlass.search.smalltalk import is_small_talk

Mode = Literal["auto", "on", "off"]
_PREFIX = re.compile(r"\s*(?:/|\N{FULLWIDTH SOLIDUS}){2,}\s*")
_LONGEST_QUERY = 300


@value_object
class Intent:
    """`text` is the message without its prefix, `query` what to search for should the model not choose itself, `unmet`
    a wish for the web that the operator's settings forbid: the answer has to say so."""

    text: str
    search: Search
    small_talk: bool = False
    query: str = ""
    unmet: bool = False


def asked(text: str, mode: Mode = "auto", prefix_enabled: bool = True, backend: str = "auto") -> Intent:
    """`mode` is the request's word, or its persona's where the request has none."""
    prefix = _PREFIX.match(text) if prefix_enabled else None
    plain = text[prefix.end() :].rstrip() if prefix else text
    if prefix and not plain:
        raise BadInput("There is nothing after `//` to search for.", hint="Write the question after the slashes.")
    wanted = mode == "on" or (mode == "auto" and prefix is not None)
    if not wanted:
        return Intent(plain, "off")
    if is_small_talk(plain):
        return Intent(plain, "off", small_talk=True)
    if backend == "off":
        return Intent(plain, "off", unmet=True)
    # The provider's own search cannot be run by us when the model does without it.
    return Intent(plain, "offered" if backend == "builtin" else "due", query=_query(plain))


def _query(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) <= _LONGEST_QUERY:
        return flat
    return flat[:_LONGEST_QUERY].rpartition(" ")[0] or flat[:_LONGEST_QUERY]
