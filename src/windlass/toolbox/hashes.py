"""What a tool was when someone agreed to it, as one hash. A definition that changes afterwards, by a word or by an
invisible letter, is another tool."""

import hashlib
import json

from windlass.servers.values import ServerConfig, ToolDefinition


def tool_hash(tool: ToolDefinition, config: ServerConfig) -> str:
    return _sha256(
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations,
            "server": _identity(config),
        }
    )


def identity_hash(config: ServerConfig) -> str:
    """Of where a server's tools come from."""
    return _sha256(_identity(config))


def arguments_hash(arguments: str) -> str:
    """Of what the arguments say, not how they are spaced. Text that is no JSON is hashed as it is."""
    try:
        return _sha256(json.loads(arguments))
    except (ValueError, RecursionError):
        return hashlib.sha256(arguments.encode("utf-8", "surrogatepass")).hexdigest()


def changed_fields(before: ToolDefinition, after: ToolDefinition) -> list[str]:
    """What a person is shown before they agree again."""
    fields = ("name", "title", "description", "input_schema", "output_schema", "annotations")
    return [field for field in fields if _text(getattr(before, field)) != _text(getattr(after, field))]


def _identity(config: ServerConfig) -> dict[str, object]:
    """Where the tool comes from. Values of the environment and headers are secrets and may rotate; names may not."""
    if config.transport != "stdio":
        return {"transport": config.transport, "url": config.url}
    return {"transport": "stdio", "command": config.command, "args": list(config.args), "env": sorted(config.env)}


def _sha256(value: object) -> str:
    return hashlib.sha256(_text(value).encode("utf-8", "surrogatepass")).hexdigest()


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
