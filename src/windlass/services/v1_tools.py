"""Which tools an OpenAI client's request offers: its own, as `tools` and `tool_choice` say, and the server's, as
`x-windlass-tools` or `windlass.tools` says."""

from typing import Any

import msgspec

from windlass.api import schemas
from windlass.core.errors import BadInput
from windlass.core.messages import ToolSpec
from windlass.core.values import value_object

CALLER = "caller"
HEADER = "x-windlass-tools"
SEARCH_TOOL = "web_search"
_CHOICES = "`auto`, `none`, `required`, a function that stands in `tools`, or `allowed_tools` of these."


@value_object
class CallerTools:
    """`insists`: one of them must be called. `alone`: none of the server's is offered beside them."""

    specs: tuple[ToolSpec, ...]
    insists: bool = False
    alone: bool = False


@value_object
class ServerToolChoice:
    """`patterns` over `server.tool`; None: what is on by default. `persona`: what the persona names."""

    patterns: tuple[str, ...] | None = None
    persona: bool = False

    @property
    def none(self) -> bool:
        return self.patterns == ()

    @property
    def search(self) -> bool:
        """Whether the web may be searched, where the persona does that."""
        return self.patterns is None or SEARCH_TOOL in self.patterns


def caller_tools(request: schemas.CompletionRequest) -> CallerTools:
    own = tuple(_spec(tool, f"tools[{index}]") for index, tool in enumerate(request.tools or []))
    if len({spec.name for spec in own}) < len(own):
        raise _refused("tools", "Two functions have the same name.")
    match request.tool_choice:
        case None | "auto":
            return CallerTools(own)
        case "none":
            return CallerTools((), alone=True)
        case "required" if own:
            return CallerTools(own, insists=True, alone=True)
        case {"type": "function", "function": {"name": str(name)}}:
            return CallerTools(_named(own, [name]), insists=True, alone=True)
        case {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "auto" | "required" as mode, "tools": list() as tools},
        }:
            names = [_allowed(tool) for tool in tools]
            return CallerTools(_named(own, names), insists=mode == "required", alone=True)
    raise _refused("tool_choice", _CHOICES)


def server_tools(request: schemas.CompletionRequest, header: str) -> ServerToolChoice:
    in_body = request.windlass.tools if request.windlass else ""
    body = in_body if isinstance(in_body, str) else ",".join(in_body)
    if header and body and header != body:
        raise _refused("windlass.tools", f"It differs from the header {HEADER}. Send one of the two.")
    match text := (header or body).strip():
        case "":
            return ServerToolChoice()
        case "none":
            return ServerToolChoice(())
        case "persona":
            return ServerToolChoice(persona=True)
    patterns = tuple(name.strip() for name in text.split(","))
    for pattern in patterns:
        if pattern != SEARCH_TOOL and not all(pattern.partition(".")):
            raise _refused(
                "windlass.tools", f"{pattern[:80]!r} is not a tool: `none`, `persona`, or `server.tool,...`."
            )
    return ServerToolChoice(patterns)


def _allowed(tool: Any) -> str:
    match tool:
        case {"type": "function", "function": {"name": str(name)}} | {"type": "function", "name": str(name)}:
            return name
    raise _refused("tool_choice", _CHOICES)


def _named(own: tuple[ToolSpec, ...], names: list[str]) -> tuple[ToolSpec, ...]:
    if not names or {spec.name for spec in own}.isdisjoint(names) or not set(names) <= {spec.name for spec in own}:
        raise _refused("tool_choice", _CHOICES)
    return tuple(spec for spec in own if spec.name in names)


def _spec(tool: dict[str, Any], where: str) -> ToolSpec:
    function = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if tool.get("type", "function") != "function":
        raise _refused(f"{where}.type", "Only functions are supported.")
    if not isinstance(function, dict) or not isinstance(name, str) or not name:
        raise _refused(where, "A function with a name is needed.")
    for key in function.keys() - {"name", "description", "parameters", "strict"}:
        raise _refused(f"{where}.function.{key}", "Not possible in a function.")
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    if not isinstance(parameters, dict):
        raise _refused(f"{where}.function.parameters", "A JSON Schema is needed.")
    return ToolSpec(
        name,
        CALLER,
        name,
        str(function.get("description") or ""),
        msgspec.json.encode(parameters).decode(),
        strict=function.get("strict") is True,
    )


def _refused(path: str, reason: str) -> BadInput:
    return BadInput(f"{path}: {reason}", detail={"path": path})
