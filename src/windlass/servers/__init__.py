"""MCP servers: kept running, safe to run, their tools offered under good names and judged before each call.

servers = Servers(on_change=...)
await servers.put(ServerConfig("srv-1", "files", command="npx", args=(...), confirmed=True))
servers.start("files")
result = await servers.call("files", "read_file", '{"path": "a"}', key=call.id)
"""

from windlass.servers.config import SandboxRules, ServerConfig, ToolOverride, check
from windlass.servers.environment import denied
from windlass.servers.imports import Imported, floating_package, imported_servers
from windlass.servers.keeper import ServerStatus
from windlass.servers.names import offered_names
from windlass.servers.pins import arguments_hash, changed_fields, tool_hash
from windlass.servers.policy import Grant, Rule, Standing, doubtful, judge
from windlass.servers.preview import RESULT_TOOLS, read_piece, search_whole
from windlass.servers.results import Keep, tool_output
from windlass.servers.schemas import Checker, visible
from windlass.servers.supervisor import Servers
from windlass.servers.values import (
    Answer,
    Answered,
    CallResult,
    EmbeddedPart,
    LinkPart,
    MediaPart,
    OnInput,
    OnProgress,
    Question,
    TextPart,
    ToolDefinition,
)

__all__ = [
    "RESULT_TOOLS",
    "Answer",
    "Answered",
    "CallResult",
    "Checker",
    "EmbeddedPart",
    "Grant",
    "Imported",
    "Keep",
    "LinkPart",
    "MediaPart",
    "OnInput",
    "OnProgress",
    "Question",
    "Rule",
    "SandboxRules",
    "ServerConfig",
    "ServerStatus",
    "Servers",
    "Standing",
    "TextPart",
    "ToolDefinition",
    "ToolOverride",
    "arguments_hash",
    "changed_fields",
    "check",
    "denied",
    "doubtful",
    "floating_package",
    "imported_servers",
    "judge",
    "offered_names",
    "read_piece",
    "search_whole",
    "tool_hash",
    "tool_output",
    "visible",
]
