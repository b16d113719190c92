"""Python functions as tools: the schema comes from the annotations, the description from the docstring."""

import asyncio
import hashlib
import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints, overload

import msgspec

from windlass.core.errors import BadInput, ToolError
from windlass.core.messages import ToolSpec
from windlass.toolbox import Function
from windlass.toolbox.local_tools import PYTHON

F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(*, name: str = "", approval: str = "auto", read_only: bool = False) -> Callable[[F], F]: ...
def tool(
    function: F | None = None, /, *, name: str = "", approval: str = "auto", read_only: bool = False
) -> F | Callable[[F], F]:
    """Make a function a tool: `@tool`, or `@tool(approval="ask")`. It may be async; one that is not runs in a thread.

    A `read_only` tool is run again by itself when a restart interrupted it; of any other the person is asked.
    """

    def made(function: F) -> F:
        function.__windlass__ = _function(function, name, approval, read_only)  # type: ignore[attr-defined]
        return function

    return made if function is None else made(function)


def as_function(given: Callable[..., Any]) -> Function:
    """What `@tool` made of it, or would make."""
    found = getattr(given, "__windlass__", None)
    return found if isinstance(found, Function) else _function(given, "", "auto", False)


def _function(function: Callable[..., Any], name: str, approval: str, read_only: bool) -> Function:
    name = name or getattr(function, "__name__", "")
    arguments = _arguments_of(function, name)
    schema = _schema(arguments)
    description = inspect.cleandoc(function.__doc__ or "")
    digest = hashlib.sha256(f"{name}\n{description}\n".encode() + schema).hexdigest()
    spec = ToolSpec(name, PYTHON, name, description, schema.decode(), digest, read_only, approval, read_only=read_only)
    return Function(spec, _caller(function, arguments))


def _caller(
    function: Callable[..., Any], arguments: type[msgspec.Struct]
) -> Callable[[dict[str, Any]], Awaitable[str]]:
    async def call(given: dict[str, Any]) -> str:
        try:
            checked = msgspec.convert(given, arguments)
        except msgspec.ValidationError as error:
            raise ToolError(f"The arguments do not fit: {error}.", cause="bad_arguments") from None
        named = {field.name: getattr(checked, field.name) for field in msgspec.structs.fields(arguments)}
        if inspect.iscoroutinefunction(function):
            return _text(await function(**named))
        return _text(await asyncio.to_thread(function, **named))

    return call


def _arguments_of(function: Callable[..., Any], name: str) -> type[msgspec.Struct]:
    hints = get_type_hints(function, include_extras=True)
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise BadInput(f"{name}: a tool takes named parameters only, not {parameter}.")
        if parameter.name not in hints:
            raise BadInput(f"{name}: the parameter {parameter.name} needs a type.", hint="Such as `city: str`.")
        kind = _described(hints[parameter.name])
        if parameter.default is parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, parameter.default))
    return msgspec.defstruct(name or "arguments", fields, kw_only=True, forbid_unknown_fields=True)


def _described(hint: Any) -> Any:
    """`Annotated[str, "what it is"]` as msgspec writes it."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *notes = get_args(hint)
    return Annotated[kind, *(msgspec.Meta(description=note) if isinstance(note, str) else note for note in notes)]


def _schema(arguments: type[msgspec.Struct]) -> bytes:
    schema = msgspec.json.schema(arguments)
    others = schema.get("$defs", {})
    own = others.pop(arguments.__name__)
    own.pop("title", None)
    return msgspec.json.encode({**own, **({"$defs": others} if others else {})})


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
