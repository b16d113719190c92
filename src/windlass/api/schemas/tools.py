"""The tools of a conversation: what is there, what is on."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from windlass.api.schemas.base import Approval, Object, Request, Response, ToolClass


class EnableTool(Request):
    server_id: Annotated[str, Meta(min_length=1, max_length=200, description="Id or slug", examples=["files"])]
    tool_name: Annotated[str, Meta(min_length=1, max_length=200, examples=["list_directory"])]
    approval: (
        Annotated[
            Approval,
            Meta(
                description="Left out, the tool is *named*: a reader runs; what changes or sends something runs until"
                " the chat has read text from outside, then asks; what says it destroys things asks"
            ),
        ]
        | UnsetType
    ) = UNSET


class ToolNamed(Request):
    server_id: Annotated[str, Meta(min_length=1, max_length=200)]
    tool_name: Annotated[str, Meta(min_length=1, max_length=200)]


class EnabledTool(Response):
    server_id: str
    server_slug: str
    tool_name: str
    approval: str


class EnabledTools(Response):
    enabled_tools: list[EnabledTool]
    count: int
    success: bool = True
    message: str = ""


class AvailableTool(Response):
    server_id: str
    server_slug: str
    server_name: str
    tool_name: str
    name: Annotated[str, Meta(description="What the model calls it: its own name unless two enabled ones clash")]
    description: str
    input_schema: Object
    annotations: Annotated[Object, Meta(description="What the server claims; not checked")]
    approval: str
    tokens: Annotated[int, Meta(description="Roughly what offering it costs")]
    enabled: bool
    title: str = ""
    changed: Annotated[bool, Meta(description="Its definition changed after it was allowed; off until accepted")] = (
        False
    )
    kind: Annotated[ToolClass, Meta(description="What it does: guessed, or as a person corrected it")] = "changes"


class UnavailableServer(Response):
    server_slug: str
    status: str
    reason: Annotated[str, Meta(description="Why, where it is known")] | UnsetType = UNSET


class AvailableTools(Response):
    available_tools: list[AvailableTool]
    count: int
    unavailable: list[UnavailableServer]
    success: bool = True
    warning: Annotated[str, Meta(description="Why a model may refuse so many tools")] | UnsetType = UNSET
