"""Writes the page's types from the server's: `make types`, a part of `make docs`. A test fails while they are old."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from msgspec import NODEFAULT, Struct, inspect

from windlass.api import schemas
from windlass.api.events import NAMES, ON_THE_WIRE
from windlass.core.events import Event, Recorded, TurnFinished, TurnStarted
from windlass.turns.views import event_position

UI = Path(__file__).parent
PACKAGE = UI.parent / "src" / "windlass"
HEADER = "/**\n * Generated from {source} by ui/generate_types.py: do not edit, run `make types`.\n *\n{about} */\n"
PLAIN = {
    inspect.AnyType: "unknown",
    inspect.BoolType: "boolean",
    inspect.FloatType: "number",
    inspect.IntType: "number",
    inspect.NoneType: "null",
    inspect.StrType: "string",
}


def main() -> None:
    for name, text in files().items():
        (UI / name).write_text(text)


def files() -> dict[str, str]:
    return {"src/api/schemas.generated.ts": _schemas(), "src/state/events.generated.ts": _events()}


def _schemas() -> str:
    about = (
        " * Bodies of requests and answers. In a request, a field with a default may be left out; in an answer, only\n"
        " * a field that the server leaves out when it has nothing to say.\n"
    )
    found = (getattr(schemas, name) for name in sorted(schemas.__all__))  # so that moved imports change nothing
    structs = [kind for kind in found if _is_struct(kind) and not kind.__module__.endswith(".v1")]
    writer = Writer(_literals(structs))
    parts = [
        HEADER.format(source="the API's schemas", about=about),
        _error_codes(),
        *writer.aliases(),
        *(writer.interface(kind.__name__, kind) for kind in structs if _fields(kind)),
    ]
    return "\n".join(parts)


def _events() -> str:
    about = (
        " * What the event stream sends. `type` is the event's name, which stands beside the data on the stream. A\n"
        " * field with a default may be missing: a server of another version does not send it.\n"
    )
    durable = {kind: NAMES[kind] for kind in get_args(Event)}
    transient = {kind: name for kind, name in NAMES.items() if kind not in durable}
    names = {kind: _camel(name) for kind, name in (durable | transient).items()}
    values = _values_in([*durable, *transient])
    writer = Writer(_literals([*values, *durable]), names)
    parts = [
        HEADER.format(source="the server's events", about=about),
        *writer.aliases(),
        *(writer.interface(kind.__name__, kind) for kind in values),
        *_headers(),
        *(writer.event(kind, name, "EventHeader") for kind, name in durable.items()),
        *(writer.event(kind, name, "TransientHeader") for kind, name in transient.items()),
        _union("DurableEvent", (names[kind] for kind in durable)),
        _union("TransientEvent", (names[kind] for kind in transient)),
        _names("DURABLE", durable.values()),
        _names("TRANSIENT", transient.values()),
    ]
    return "\n".join(parts)


class Writer:
    """TypeScript for msgspec's view of a type. Literals that have a name in Python keep it; a value that is an event
    too is named without what only an event has."""

    def __init__(self, literals: dict[str, tuple[Any, ...]], events: dict[type, str] | None = None) -> None:
        self._literals = literals
        self._named = {frozenset(values): name for name, values in reversed(literals.items())}
        self._events = events or {}

    def aliases(self) -> Iterator[str]:
        return (_line(name, _choice(values)) for name, values in self._literals.items())

    def interface(self, name: str, kind: type) -> str:
        return f"{_doc(_own_doc(kind))}export interface {name} {{\n{self._body(kind)}}}\n"

    def event(self, kind: type, name: str, header: str) -> str:
        first = f'  type: "{name}";\n' + ("  parent_turn_id: string | null;\n" if kind is TurnStarted else "")
        title = f"export interface {self._events[kind]} extends {header}"
        sent = ON_THE_WIRE.get(kind, kind)
        return f"{_doc(_own_doc(sent))}{title} {{\n{first}{self._body(sent)}}}\n"

    def _body(self, kind: type) -> str:
        given = issubclass(kind, Struct) and not issubclass(kind, schemas.Request)
        return "".join(self._field(field, always=given) for field in _fields(kind))

    def _field(self, field: inspect.Field, always: bool) -> str:
        """msgspec gives a field that may be unset no default, though it is not required."""
        unset = not field.required and field.default is NODEFAULT and field.default_factory is NODEFAULT
        optional = unset if always else not field.required
        mark = "?" if optional else ""
        return f"{_doc(_description(field.type), '  ')}  {field.encode_name}{mark}: {self.type(field.type)};\n"

    def type(self, found: inspect.Type) -> str:
        match found:
            case inspect.Metadata():
                return self.type(found.type)
            case inspect.LiteralType():
                return self._named.get(frozenset(found.values)) or _choice(found.values)
            case inspect.UnionType():
                return " | ".join(dict.fromkeys(self.type(part) for part in found.types))
            case inspect.ListType() | inspect.VarTupleType():
                return self._list(self.type(found.item_type))
            case inspect.TupleType():
                return f"[{', '.join(self.type(part) for part in found.item_types)}]"
            case inspect.DictType():
                return f"Record<{self.type(found.key_type)}, {self.type(found.value_type)}>"
            case inspect.StructType() | inspect.DataclassType():
                event = self._events.get(found.cls)
                return f'Omit<{event}, keyof TransientHeader | "type">' if event else found.cls.__name__
        return PLAIN[type(found)]

    def _list(self, item: str) -> str:
        return f"({item})[]" if " | " in item and "<" not in item else f"{item}[]"


def _headers() -> Iterator[str]:
    """As `event_place` makes them; a passing event carries only the turn's id and position."""
    row = Recorded(0, 0, 0.0, TurnFinished("answered"))
    header = event_position("turn", "conversation", None, row)
    fields = {name: "string" if isinstance(value, str) else "number" for name, value in header.items()}
    yield _plain("EventHeader", "Where a durable event stands. `at` is ISO 8601.", fields)
    passing = {name: fields[name] for name in ("turn_id", "seq")}
    yield _plain("TransientHeader", "Transient events are not kept: they carry no id and no time.", passing)


def _plain(name: str, doc: str, fields: dict[str, str]) -> str:
    body = "".join(f"  {field}: {kind};\n" for field, kind in fields.items())
    return f"{_doc(doc)}export interface {name} {{\n{body}}}\n"


def _error_codes() -> str:
    """Every code that is written in the source; a failed model or tool gives its cause instead."""
    codes = sorted({code for path in sorted(PACKAGE.rglob("*.py")) for code in _codes_in(ast.parse(path.read_text()))})
    doc = _doc("The code of an error. A failed model or tool gives its cause, so others come too.")
    return doc + _union("ErrorCode", (f'"{code}"' for code in codes))


def _codes_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="code", value=ast.Constant(value=str(code))):
                yield code
            case ast.ClassDef():
                yield from (
                    str(ast.literal_eval(line.value))
                    for line in node.body
                    if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "code"
                )


def _values_in(kinds: Sequence[type]) -> list[type]:
    """The dataclasses that the fields of these are made of, the inner ones first."""
    found: dict[type, None] = {}
    events = set(kinds)

    def look(info: object) -> None:
        if isinstance(info, inspect.DataclassType):
            for field in info.fields:
                look(field.type)
            if info.cls not in events:
                found[info.cls] = None
        for part in (*getattr(info, "types", ()), *filter(None, [getattr(info, "item_type", None)])):
            look(part)

    for kind in kinds:
        look(inspect.type_info(kind))
    return list(found)


def _literals(kinds: Iterable[type]) -> dict[str, tuple[Any, ...]]:
    modules = sorted({kind.__module__ for kind in kinds})
    found = ((name, value) for module in modules for name, value in vars(sys.modules[module]).items())
    return {name: get_args(value) for name, value in found if get_origin(value) is Literal}


def _fields(kind: type) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(kind)
    return info.fields if isinstance(info, inspect.StructType | inspect.DataclassType) else ()


def _is_struct(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _own_doc(kind: type) -> str:
    """A dataclass without a docstring gets its signature as one."""
    doc = (
        ""
        if kind.__doc__ is None or (is_dataclass(kind) and kind.__doc__.startswith(f"{kind.__name__}("))
        else kind.__doc__
    )
    return " ".join(doc.split())


def _description(found: inspect.Type) -> str:
    parts: Sequence[object] = found.types if isinstance(found, inspect.UnionType) else (found,)
    texts = [
        (part.extra_json_schema or {}).get("description", "") for part in parts if isinstance(part, inspect.Metadata)
    ]
    return next(filter(None, texts), "")


def _doc(text: str, indent: str = "") -> str:
    return f"{indent}/** {text} */\n" if text else ""


def _line(name: str, kind: str) -> str:
    return f"export type {name} = {kind};\n"


def _union(name: str, parts: Iterable[str]) -> str:
    return f"export type {name} =\n" + "\n".join(f"  | {part}" for part in parts) + ";\n"


def _names(name: str, events: Iterable[str]) -> str:
    lines = "".join(f'  "{event}",\n' for event in events)
    return f"export const {name} = [\n{lines}] as const;\n"


def _choice(values: Iterable[object]) -> str:
    return " | ".join(f'"{value}"' for value in values)


def _camel(name: str) -> str:
    return re.sub(r"(?:^|_)(.)", lambda found: found[1].upper(), name)


if __name__ == "__main__":
    main()
