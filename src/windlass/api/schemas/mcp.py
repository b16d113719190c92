"""Messages of the Model Context Protocol, as `/mcp` takes and gives them. What stands in them is the protocol's."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from windlass.api.schemas.base import Object, Response


class McpMessage(Response):
    jsonrpc: Literal["2.0"]
    id: int | str | UnsetType = UNSET
    method: Annotated[str, Meta(examples=["tools/list"])] | UnsetType = UNSET
    params: Object | UnsetType = UNSET
    result: Any | UnsetType = UNSET
    error: Object | UnsetType = UNSET
