"""A reply's calls put together from their parts: by index, then by id, then by what makes sense. The argument text of a
call is read, repaired where its meaning is plain, and marked as broken where it is not."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from windlass.core.messages import Toolset
from windlass.core.ports import DraftCall
from windlass.core.values import value_object

DEPTH = 100  # deeper ones exhaust the stack of the next reader
_KNOWN_KEYS = frozenset({"index", "id", "type", "function", "name", "arguments"})


@dataclass(slots=True)
class _Slot:
    """A call while its parts arrive."""

    position: int
    index: int | None = None
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)
    extra: dict[str, object] = field(default_factory=dict)
    repairs: dict[str, None] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.parts)


class CallParts:
    """`emit` gets each part: the call's position, its name so far, and a piece of its arguments."""

    def __init__(self, offered: Toolset, emit: Callable[[int, str, str], None]) -> None:
        self._offered = offered
        self._emit = emit
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}
        self._by_id: dict[str, _Slot] = {}
        self.repairs: dict[str, None] = {}
        self.pieces = 0
        self.foreign = False  # a call came that the provider runs itself

    def __bool__(self) -> bool:
        return bool(self._slots)

    def add(self, parts: list[object]) -> list[object]:
        """Take the parts of one chunk; what a provider's own search found is given back."""
        found: list[object] = []
        for nth, part in enumerate(parts):
            if not isinstance(part, dict):
                continue
            function = part if "function" not in part and "name" in part else part.get("function")
            if isinstance(function, dict):
                self._extend(self._slot(part, function, first=nth == 0), part, function)
            elif part.get("type") not in (None, "", "function"):
                self.foreign = True
                found += _search_results(part)
        return found

    def drafts(self, provider: str) -> list[DraftCall]:
        if not self._slots:
            return []
        slots = [slot for slot in self._slots if slot.name or slot.parts or slot.id]
        slots.sort(key=lambda slot: slot.position if slot.index is None else slot.index)
        self._note_numbers(slots)
        read = [read_arguments(slot.text) for slot in slots]
        read = _distributed(slots, read) or read
        return [_draft(slot, one, provider) for slot, several in zip(slots, read, strict=True) for one in several]

    def _slot(self, part: dict[str, object], function: dict[str, object], *, first: bool) -> _Slot:
        index, wire_id, name = _index(part.get("index")), _text(part.get("id")), _text(function.get("name"))
        slot = self._open_slot(index, wire_id, name, first)
        if slot is not None and self._begins_another(slot, wire_id, name, function.get("arguments")):
            if index is not None:
                self.repairs["two calls came under one index"] = None
            slot = None
        if slot is None:
            slot = _Slot(len(self._slots), index)
            self._slots.append(slot)
        slot.id = slot.id or wire_id
        if index is not None:
            self._by_index[index] = slot
        if wire_id:
            self._by_id[wire_id] = slot
        return slot

    def _open_slot(self, index: int | None, wire_id: str, name: str, first: bool) -> _Slot | None:
        if index is not None:
            return self._by_index.get(index)
        if wire_id:
            return self._by_id.get(wire_id)
        if name and not first:
            return None
        return self._slots[-1] if self._slots else None

    def _begins_another(self, slot: _Slot, wire_id: str, name: str, more: object) -> bool:
        """Some servers give every call the same index. Others repeat id and name in every part of one call."""
        if not name or not slot.name:
            return False
        if wire_id and slot.id and wire_id != slot.id:
            return True
        if name != slot.name:
            return bool(slot.parts) or slot.name in self._offered.by_name or not self._leads_to_a_name(slot.name, name)
        opens = isinstance(more, dict) or _text(more).lstrip().startswith("{")
        return opens and bool(slot.parts) and slot.parts[-1].rstrip().endswith("}") and _whole(slot.text)

    def _leads_to_a_name(self, begun: str, more: str) -> bool:
        """Names come in pieces too, or grow with each part."""
        whole = more if more.startswith(begun) else begun + more
        return any(offered.startswith(whole) for offered in self._offered.by_name)

    def _extend(self, slot: _Slot, part: dict[str, object], function: dict[str, object]) -> None:
        name = _text(function.get("name"))
        if name and name != slot.name:
            slot.name = name if name.startswith(slot.name) else slot.name + name
        arguments = function.get("arguments")
        piece = _text(arguments)
        if isinstance(arguments, dict | list):
            piece = msgspec.json.encode(arguments).decode()
            slot.repairs["the arguments were no string"] = None
        if piece:
            slot.parts.append(piece)
        if not part.keys() <= _KNOWN_KEYS:
            slot.extra.update({key: part[key] for key in part.keys() - _KNOWN_KEYS})
        self.pieces += 1
        self._emit(slot.position, slot.name, piece)

    def _note_numbers(self, slots: list[_Slot]) -> None:
        indexes = [slot.index for slot in slots if slot.index is not None]
        if len(indexes) == len(slots) and len(set(indexes)) == len(slots) and indexes != list(range(len(slots))):
            self.repairs["the calls were numbered with gaps"] = None
        ids = [slot.id for slot in slots if slot.id]
        if len(ids) < len(slots):
            self.repairs["a call came without an id"] = None
        if len(set(ids)) < len(ids):
            self.repairs["two calls came with the same id"] = None


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
        return (Arguments(broken=f"The arguments are not valid: {problem}"),)


def _distributed(slots: list[_Slot], read: list[tuple[Arguments, ...]]) -> list[tuple[Arguments, ...]] | None:
    """The arguments of all calls run together in one of them, the others left empty: one for each, in order."""
    full = [(slot, several) for slot, several in zip(slots, read, strict=True) if slot.parts]
    if len(slots) < 2 or len(full) != 1 or len(full[0][1]) != len(slots):
        return None
    for slot in slots:
        slot.parts = full[0][0].parts
    return [(one,) for one in full[0][1]]


def _draft(slot: _Slot, arguments: Arguments, provider: str) -> DraftCall:
    repairs = (*slot.repairs, *((arguments.repair,) if arguments.repair else ()))
    broken = arguments.broken or ("" if slot.name else "The call names no tool.")
    raw = slot.text if repairs or broken else ""
    extra = json.dumps({provider: slot.extra}, ensure_ascii=False) if slot.extra else ""
    return DraftCall(slot.name, "{}" if broken else arguments.text, slot.id, raw, broken, repairs, extra)


def _search_results(part: dict[str, object]) -> list[object]:
    inner = part.get(_text(part.get("type")))
    found: list[object] = []
    for holder in (part, inner if isinstance(inner, dict) else {}):
        results = holder.get("search_result")
        found += results if isinstance(results, list) else [results]
    return found


def _whole(arguments: str) -> bool:
    return not read_arguments(arguments)[0].broken


def _index(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 6 else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(text: str) -> Arguments:
    value = _loads(text)
    if isinstance(value, dict):
        return Arguments(text)
    if value is None or value == []:
        return Arguments(repair=f"the arguments were {text}: taken as {{}}")
    if isinstance(value, str) and isinstance(_loads(value or "0"), dict):
        return Arguments(value.strip(), "the arguments were JSON inside a string")
    raise ValueError("they are not a JSON object")


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
    raise ValueError(f"{constant} is not valid JSON")


def _refuse_half_characters(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("they hold half a character") from None


_DECODER = json.JSONDecoder(object_pairs_hook=_no_repeats, parse_constant=_refuse)
