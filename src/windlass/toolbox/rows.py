"""What is remembered about tools, as plain rows."""

from collections.abc import Mapping
from typing import Any

from windlass.core.values import value_object
from windlass.servers.values import ToolDefinition
from windlass.toolbox.permissions import PolicyRule


@value_object
class EnabledToolRow:
    """A person's word about one tool in one conversation. `enabled` is False for one a server enables by default."""

    server_id: str
    tool: str
    enabled: bool = True
    approval: str = ""

    def key(self, conversation_id: str) -> str:
        return f"{conversation_id}/{self.server_id}/{self.tool}"


@value_object
class Pin:
    """A tool as it was when somebody agreed to it, kept whole so that a change can be shown."""

    server_id: str
    tool: str
    hash: str
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] | None = None
    identity: str = ""
    program: str = ""  # the server's name and version then; its own claim, so no part of the hash

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition(
            self.tool, self.title, self.description, self.input_schema, self.output_schema, self.annotations
        )


@value_object
class PolicyRules:
    rules: tuple[PolicyRule, ...] = ()
