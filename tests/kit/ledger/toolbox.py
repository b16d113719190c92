"""The tools one server offers: the table, changed and added to as its options say."""

import json
from typing import Any

from tests.kit.ledger.running import Call, Json, RpcError
from tests.kit.ledger.tools import TOOLS, Tool, echo, text


class Toolbox:
    def __init__(self, extra: int, definitions: str | None, described: list[str], page: int, only: str | None) -> None:
        wanted = only.split(",") if only else list(TOOLS)
        self._tools: dict[str, Tool] = {name: TOOLS[name] for name in wanted if name != "change_tools"}
        self._definitions: dict[str, Json] = {name: tool.definition(name) for name, tool in self._tools.items()}
        if not only or "change_tools" in wanted:
            self._add("change_tools", Tool(self._change, "Change another tool's definition.", CHANGE, ("name",)))
        for number in range(extra):
            self._add(f"extra_{number:04}", Tool(echo, f"Extra tool {number}.", {"text": {"type": "string"}}))
        for definition in _read(definitions):
            self._tools[definition["name"]] = Tool(echo, "", {})
            self._definitions[definition["name"]] = definition
        for line in described:
            name, _, words = line.partition("=")
            self._definitions[name] = {**self._definitions[name], "description": words}
        self._page = page or len(self._definitions) or 1
        self.changes = 0

    def list(self, cursor: str | None) -> Json:
        start = int(cursor or 0)
        found = list(self._definitions.values())
        page: Json = {"tools": found[start : start + self._page]}
        if start + self._page < len(found):
            page["nextCursor"] = str(start + self._page)
        return page

    def run(self, call: Call) -> Json:
        tool = self._tools.get(call.tool)
        if tool is None:
            raise RpcError(-32602, f"Unknown tool: {call.tool}")
        for name in tool.required:
            if name not in call.arguments:
                return text(f"missing argument: {name}", is_error=True)
        return tool.run(call)

    def _add(self, name: str, tool: Tool) -> None:
        self._tools[name], self._definitions[name] = tool, tool.definition(name)

    def _change(self, call: Call) -> Json:
        """Any field of the definition may be given; `remove` takes the tool away, `times` tells of it so many times."""
        name = call["name"]
        if call.get("remove"):
            del self._definitions[name]
        else:
            changed = {key: value for key, value in call.arguments.items() if key not in ("name", "remove", "times")}
            self._definitions[name] = {**self._definitions[name], **(changed or {"description": "Changed."})}
        self.changes += call.get("times", 1)
        return text(f"changed {name}")


CHANGE: Json = {
    "name": {"type": "string"},
    "description": {"type": "string"},
    "inputSchema": {"type": "object"},
    "annotations": {"type": "object"},
    "remove": {"type": "boolean"},
    "times": {"type": "integer"},
}


def _read(path: str | None) -> Any:
    if path is None:
        return []
    with open(path) as file:
        return json.load(file)
