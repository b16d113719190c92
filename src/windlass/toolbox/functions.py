"""Tools that are functions of the program Windlass runs in."""

from collections.abc import Awaitable, Callable
from typing import Any

from windlass.core.errors import ToolError
from windlass.core.messages import ToolSpec
from windlass.core.values import value_object

PYTHON = "python"


@value_object
class Function:
    """A function with the spec it is offered under; `spec.server` is `python`."""

    spec: ToolSpec
    call: Callable[[dict[str, Any]], Awaitable[str]]


class Functions:
    def __init__(self) -> None:
        self._by_name: dict[str, Function] = {}

    def add(self, function: Function) -> None:
        self._by_name[function.spec.tool] = function

    @property
    def specs(self) -> list[ToolSpec]:
        return [function.spec for function in self._by_name.values()]

    def get(self, tool: str) -> Function:
        if tool not in self._by_name:
            raise ToolError(f"The function {tool} is not there any more.", cause="changed")
        return self._by_name[tool]
