"""Lists every public name of Windlass, one fact a line: docs/public-names.txt is made of it by `make docs`.

What stands before ` : ` is kept by every later version; what stands after it (types and defaults) may widen.
`docs/stability.md` says what is public and why. Nothing but these imports depends on how the package is built.
"""

import ast
import asyncio
import dataclasses
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import typer

import windlass
from windlass import testing
from windlass.api.events import KINDS, ON_THE_WIRE
from windlass.api.routes import ROUTES
from windlass.cli.program import VERBS, build
from windlass.config import _File as SettingsFile
from windlass.core.events import Outcome, Refusal
from windlass.core.messages import CallState
from windlass.providers import models
from windlass.telemetry import metrics as telemetry
from windlass.web.openapi import openapi

SOURCE = Path(windlass.__file__).parent
# Calls whose argument at this position is an error code.
CODES = {"ModelError": 0, "Kind": 0, "TurnFinished": 1}
NOT_PUBLIC_VARIABLES = {"WINDLASS_FAULT", "WINDLASS_FROZEN"}  # for tests only
NOT_PUBLIC_ATTRIBUTES = {"transport"}


def listing() -> str:
    sections = {
        "library": _library(),
        "windlass.testing": _exports(testing),
        "command line": _commands(),
        "settings": _settings(SettingsFile, ""),
        "environment": _variables(),
        "events": _events(),
        "outcomes": get_args(Outcome),
        "states of a call": get_args(CallState),
        "error codes": _codes(),
        "metrics": _metrics(),
        "log lines": _log_lines(),
        "routes": (f"{route.method} {route.path} {route.operation}" for route in ROUTES),
    }
    return "\n\n".join("\n".join([f"# {name}", *sorted(set(facts))]) for name, facts in sections.items()) + "\n"


def description() -> str:
    """`/openapi.json`; the version is left out, since it says nothing of the interface."""
    return json.dumps(openapi(ROUTES, ""), indent=1, ensure_ascii=False) + "\n"


def _library() -> Iterator[str]:
    yield from _exports(windlass)
    for name, group in asyncio.run(_groups()).items():
        yield from _members(f"windlass.Windlass.{name}", group)
    for kind in KINDS.values():
        if kind.__module__.startswith("windlass.core."):  # the documented way to match on what a stream yields
            yield f"{kind.__module__}.{kind.__name__}"


async def _groups() -> dict[str, type]:
    """The verbs of a client by their group. Nothing is asked of the address."""
    async with windlass.Windlass("http://127.0.0.1:9") as client:
        found = {name: type(group) for name, group in vars(client).items()}
    return {name: group for name, group in found.items() if _public(name) and name not in NOT_PUBLIC_ATTRIBUTES}


def _exports(module: types.ModuleType) -> Iterator[str]:
    for name in module.__all__:
        found, path = getattr(module, name), f"{module.__name__}.{name}"
        yield path
        if isinstance(found, types.ModuleType):
            functions = [one for one in vars(found).values() if inspect.isfunction(one) and _public(one.__name__)]
            for function in functions:
                if function.__module__ == found.__name__:
                    yield from _parameters(f"{path}.{function.__name__}", function)
        elif inspect.isclass(found):
            yield from _class(path, found)
        elif inspect.isfunction(found):
            yield from _parameters(path, found)


def _class(path: str, found: type) -> Iterator[str]:
    """What only comes out has fields; what people make has a constructor too."""
    made_by_people = not issubclass(found, msgspec.Struct) or found.__struct_config__.forbid_unknown_fields
    if made_by_people:
        yield from _parameters(path, found)
    for name, hint in get_type_hints(found).items():
        if _public(name) and not isinstance(vars(found).get(name), property):
            yield f"{path}.{name} : {_type(hint)}"
    yield from _members(path, found)


def _members(path: str, found: type) -> Iterator[str]:
    yield path
    for name in dir(found):
        member = inspect.getattr_static(found, name)
        if not _public(name) or getattr(object, name, None) is not None:
            continue
        if isinstance(member, property):
            yield f"{path}.{name}"
        elif inspect.isfunction(member) and member.__module__.startswith("windlass"):
            yield from _parameters(f"{path}.{name}", member)


def _parameters(path: str, function: Any) -> Iterator[str]:
    """One line for each parameter: its position where it may be given without a name, `=` where it may be left out."""
    yield f"{path}()"
    parameters = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
    for position, one in enumerate(parameters):
        star = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
        order = "" if star or one.kind is one.KEYWORD_ONLY else f"{position} "
        given = one.default is not one.empty
        shown = f" = {one.default!r}" if isinstance(one.default, str | int | float | None) and given else ""
        yield f"{path}({order}{star}{one.name}{'=' if given else ''}) : {_type(one.annotation)}{shown}"


def _commands() -> Iterator[str]:
    for verb in ("", *VERBS):
        program: Any = typer.main.get_command(build([verb]))
        yield from _options("windlass", program) if not verb else _command(f"windlass {verb}", program.commands[verb])


def _command(path: str, command: Any) -> Iterator[str]:
    yield path
    yield from _options(path, command)
    for name, below in getattr(command, "commands", {}).items():
        yield from _command(f"{path} {name}", below)


def _options(path: str, command: Any) -> Iterator[str]:
    for one in command.params:
        if one.param_type_name == "argument":
            yield f"{path} {one.name.upper()}" + ("" if one.required else " : optional")
        else:
            yield from (f"{path} {name}" for name in (*one.opts, *one.secondary_opts) if "completion" not in name)
        yield from (f"{path} {one.opts[0]} {choice}" for choice in _choices(one.type_descriptor.annotation))


def _settings(struct: type, path: str) -> Iterator[str]:
    hints = get_type_hints(struct)
    for one in msgspec.structs.fields(struct):
        key = f"{path}{one.encode_name}"
        default = f" = {one.default!r}" if isinstance(one.default, str | int | float) else ""
        yield f"{key} : {_type(hints[one.name])}{default}"
        yield from (f"{key} = {value}" for value in _choices(hints[one.name]))
        for way, below in _structs(hints[one.name]):
            yield from _settings(below, f"{key}{way}.")


def _structs(hint: Any, way: str = "") -> Iterator[tuple[str, type]]:
    origin = get_origin(hint)
    if inspect.isclass(hint) and issubclass(hint, msgspec.Struct):
        yield way, hint
    for one in get_args(hint) if origin is not Literal else ():
        yield from _structs(one, way + (".NAME" if origin is dict else "[]" if origin is list else ""))


def _variables() -> set[str]:
    pattern = re.compile(r'"(WINDLASS_[A-Z_]+|OPENAI_[A-Z_]+|LLM_MODEL|ZAI_API_KEY)"')
    found = {name for file in SOURCE.rglob("*.py") for name in pattern.findall(file.read_text())}
    return found - NOT_PUBLIC_VARIABLES


def _events() -> Iterator[str]:
    yield "ping"
    for name, kind in KINDS.items():
        yield name
        yield from _settings(ON_THE_WIRE[kind], f"{name}.") if kind in ON_THE_WIRE else _fields(name, kind)


def _fields(path: str, kind: type) -> Iterator[str]:
    for name, hint in get_type_hints(kind).items():
        if name in {one.name for one in dataclasses.fields(kind)}:
            yield f"{path}.{name} : {_type(hint)}"
            yield from (f"{path}.{name} = {value}" for value in _choices(hint))
            for below in _dataclasses(hint):
                yield from _fields(f"{path}.{name}", below)


def _dataclasses(hint: Any) -> Iterator[type]:
    if inspect.isclass(hint) and dataclasses.is_dataclass(hint):
        yield hint
    for one in get_args(hint) if get_origin(hint) is not Literal else ():
        yield from _dataclasses(one)


def _codes() -> set[str]:
    found = {code for code in get_args(Refusal) if code}
    for node in _nodes():
        match node:
            case ast.ClassDef():
                assigned = [one for one in node.body if isinstance(one, ast.Assign)]
                found |= {_text(one.value) for one in assigned if [ast.unparse(t) for t in one.targets] == ["code"]}
            case ast.Call(args=args, keywords=keywords):
                name = ast.unparse(node.func).rpartition(".")[2]
                found |= {_text(one.value) for one in keywords if one.arg in ("code", "cause")}
                if len(args) > CODES.get(name, len(args)):
                    found.add(_text(args[CODES[name]]))
    return {code for code in found if re.fullmatch(r"[a-z][a-z_]+", code)}


def _metrics() -> Iterator[str]:
    yield "windlass_servers{status}"
    for node in _nodes():
        match node:
            case ast.Subscript(value=ast.Attribute(attr="counts"), slice=name):
                yield f"windlass_{_text(name)}_total"
            case ast.Call(func=ast.Name(id="_gauge"), args=[name, *_]):
                yield f"windlass_{_text(name)}"
            case ast.Call(func=ast.Name(id="_histogram"), args=[name, *_]):
                yield from (f"windlass_{_text(name)}{part}" for part in ("_bucket{le}", "_sum", "_count"))


def _log_lines() -> Iterator[str]:
    """Those of a turn's steps. Others are for people who look for a fault, and change with what they describe."""
    for node in (one for module in (telemetry, models) for one in ast.walk(ast.parse(inspect.getsource(module)))):
        match node:
            case ast.Call(func=ast.Attribute(attr="info" | "warning" | "error"), args=[text, *_]):
                yield _text(text)


def _nodes() -> Iterator[ast.AST]:
    for file in sorted(SOURCE.rglob("*.py")):
        yield from ast.walk(ast.parse(file.read_text()))


def _text(node: ast.expr) -> str:
    """A text as it stands; what is put into it by the name of what is put in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) for part in parts)
        case ast.FormattedValue(value=value):
            return "{" + ast.unparse(value).rpartition(".")[2] + "}"
    return ""


def _choices(hint: Any) -> Iterator[str]:
    if get_origin(hint) is Literal:
        yield from (str(value) for value in get_args(hint) if value != "")
    else:
        for one in get_args(hint):
            yield from _choices(one)


def _type(hint: Any) -> str:
    """Without modules, which may move, and without what `Annotated` adds."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(args[0])
    if origin in (Union, types.UnionType):
        return " | ".join(_type(one) for one in args)
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, args))}]"
    if isinstance(hint, list):
        return f"[{', '.join(map(_type, hint))}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(_type(one) for one in args)}]"
    if hint is types.NoneType or hint is None:
        return "None"
    if hint in (inspect.Parameter.empty, typing.Any):
        return "Any"
    return hint.__name__ if inspect.isclass(hint) else str(hint).rpartition(".")[2]


def _public(name: str) -> bool:
    return not name.startswith("_")


if __name__ == "__main__":
    sys.stdout.write(description() if "--openapi" in sys.argv else listing())
