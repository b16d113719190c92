"""The argument text of a call: read it, repair it where its meaning is plain, call it broken where it is not."""

import json
from collections.abc import Iterator

from windlass.core.values import value_object

DEPTH = 100  # deeper ones exhaust the stack of whoever reads them next


@value_object
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
        problem = str(error)
    try:
        return _apart(text) if text.startswith("{") else (_unfenced(text),)
    except (ValueError, RecursionError):
        return (Arguments(broken=f"The arguments cannot be read: {problem}"),)


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
    found = {read.text: None for piece in _pieces(text) if (read := _object(piece)).text != "{}"}
    repair = "several arguments were run together" if len(found) > 1 else "the arguments were sent more than once"
    return tuple(Arguments(piece, repair) for piece in found) or (Arguments(repair=repair),)


def _pieces(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        _, end = _DECODER.raw_decode(text, at)
        yield text[at:end]
        at = end
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1


def _unfenced(text: str) -> Arguments:
    if not (text.startswith("```") and text.endswith("```") and len(text) > 6):
        raise ValueError("no code fence")
    inner = _object(text[3:-3].removeprefix("json").strip())
    return Arguments(inner.text, "the arguments stood in a code fence")


def _loads(text: str) -> object:
    value: object = _DECODER.decode(text)
    if text.count("{") + text.count("[") > DEPTH and _too_deep(value):
        raise ValueError(f"they are nested more than {DEPTH} deep")
    if "\\u" in text:
        _refuse_half_characters(value)
    return value


def _too_deep(value: object) -> bool:
    level = [value]
    for _ in range(DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


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


_DECODER = json.JSONDecoder(object_pairs_hook=_no_repeats, parse_constant=_refuse)
