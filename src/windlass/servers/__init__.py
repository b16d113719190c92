"""MCP servers: configured, started and kept running, their tools listed and called.

servers = Servers(on_change=...)
await servers.put(ServerConfig("srv-1", "files", command="npx", args=(...), confirmed=True))
servers.start("files")
result = await servers.call("files", "read_file", '{"path": "a"}', key=call.id)
"""

from windlass.servers.environment import denied
from windlass.servers.imports import ImportedConfig, ImportedFile, floating_package, imported_servers, slug_for
from windlass.servers.isolation import Isolation, IsolationStatus, Refusal, line_that_allows, opened
from windlass.servers.lifecycle import ServerStatus
from windlass.servers.placeholders import Placeholder
from windlass.servers.sign_in import (
    AskPerson,
    AuthorizationAnswer,
    CredentialStore,
    SignInAttempt,
    SignInCredentials,
    SignInNeeded,
)
from windlass.servers.supervisor import Servers
from windlass.servers.values import (
    Answered,
    CallResult,
    EmbeddedPart,
    InputReply,
    LinkPart,
    MediaPart,
    OnInput,
    OnProgress,
    Question,
    SandboxRules,
    ServerConfig,
    TextPart,
    ToolDefinition,
    ToolOverride,
    check,
    check_filled,
    with_values,
    without_overwritten,
)
from windlass.servers.visit import Visit, visit

__all__ = [
    "Answered",
    "AskPerson",
    "AuthorizationAnswer",
    "CallResult",
    "CredentialStore",
    "EmbeddedPart",
    "ImportedConfig",
    "ImportedFile",
    "InputReply",
    "Isolation",
    "IsolationStatus",
    "LinkPart",
    "MediaPart",
    "OnInput",
    "OnProgress",
    "Placeholder",
    "Question",
    "Refusal",
    "SandboxRules",
    "ServerConfig",
    "ServerStatus",
    "Servers",
    "SignInAttempt",
    "SignInCredentials",
    "SignInNeeded",
    "TextPart",
    "ToolDefinition",
    "ToolOverride",
    "Visit",
    "check",
    "check_filled",
    "denied",
    "floating_package",
    "imported_servers",
    "line_that_allows",
    "opened",
    "slug_for",
    "visit",
    "with_values",
    "without_overwritten",
]
