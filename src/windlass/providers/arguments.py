"""The argument text of a call: read it, repair it where its meaning is plain, call it broken where it is not."""

import json
import re
from dataclasses import dataclass

DEPTH = 100  # deeper ones exhaust the stack of whoever reads them next
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Arguments:
    """`text` is always a JSON object; when `broken` says why the model's own text could not be read, it is `{}`."""

    text: str = "{}"
    repair: str = ""
    broken: str = ""


def read_arguments(raw: str) -> tuple[Arguments, ...]:
    """One, or several where a server ran the arguments of several calls together."""
    text = raw.strip()
    if not text:
        return (Arguments(repair="no arguments were sent: taken as {}"),)
    try:
        return (_object(text),)
    except (ValueError, RecursionError) as error:
        apart = _apart(text) if text.startswith("{") else ()
        return apart or (_unfenced(text) or Arguments(broken=f"The arguments cannot be read: {error}"),)


def _object(text: str) -> Arguments:
    value = _loads(text)
    if isinstance(value, dict):
        return Arguments(text)
    if value is None or value == []:
        return Arguments(repair=f"the arguments were {text}: taken as {{}}")
    if isinstance(value, str) and isinstance(_loads(value or "0"), dict):
        return Arguments(value.strip(), "the arguments were JSON inside a string")
    raise ValueError("they are no JSON object")


def _apart(text: str) -> tuple[Arguments, ...]:
    """`{..}{..}`: empty ones and exact repeats are an echo of the same call, not further calls."""
    decoder = json.JSONDecoder(object_pairs_hook=_no_repeats, parse_constant=_refuse)
    found: dict[str, None] = {}
    at = 0
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return ()
        if not isinstance(value, dict):
            return ()
        if value:
            found[text[at:end]] = None
        at = end
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1
    repair = "several arguments were run together" if len(found) > 1 else "the arguments were sent more than once"
    return tuple(Arguments(one, repair) for one in found) or (Arguments(repair=repair),)


def _unfenced(text: str) -> Arguments | None:
    fenced = _FENCE.fullmatch(text)
    if not fenced:
        return None
    try:
        inner = _object(fenced[1])
    except (ValueError, RecursionError):
        return None
    return Arguments(inner.text, "the arguments stood in a code fence")


def _loads(text: str) -> object:
    if _depth(text) > DEPTH:
        raise ValueError(f"they are nested more than {DEPTH} deep")
    value: object = json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_refuse)
    if "\\u" in text:
        _refuse_half_characters(value)
    return value


def _depth(text: str) -> int:
    if text.count("{") + text.count("[") <= DEPTH:
        return 0
    deepest = depth = 0
    for token in _BRACKETS.finditer(text):
        mark = token[0]
        depth += 1 if mark in "[{" else -1 if mark in "]}" else 0
        deepest = max(deepest, depth)
    return deepest


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key appears twice")
    return value


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")


def _refuse_half_characters(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("they hold half a character") from None
