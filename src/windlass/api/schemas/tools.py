"""The tools of a conversation: what is there, what is on."""

from typing import Annotated, Literal

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

    picked: Annotated[
        bool,
        Meta(
            description="By itself. Beyond the budget of `GET .../tools/available` a picked tool is always listed; one"
            " that was switched on with all others of its server (false) is found by search"
        ),
    ] = True


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
    listed: Annotated[
        bool, Meta(description="The next request lists it. An enabled tool that is not listed is found by search")
    ] = False


class UnavailableServer(Response):
    server_slug: str
    status: str
    reason: Annotated[str, Meta(description="Why, where it is known")] | UnsetType = UNSET


class ToolCost(Response):
    """What the enabled tools cost in each request. Tokens are estimates."""

    tools: int
    tokens: int
    listed_tools: Annotated[int, Meta(description="Of them, those that the next request lists")]
    listed_tokens: int
    budget_tools: Annotated[int, Meta(description="`limits.tools`")]
    budget_tokens: Annotated[int, Meta(description="`limits.tool_tokens`")]
    exceeded: Annotated[bool, Meta(description="The model searches for tools that are not listed")]


class AvailableTools(Response):
    available_tools: list[AvailableTool]
    count: int
    unavailable: list[UnavailableServer]
    success: bool = True
    cost: ToolCost | UnsetType = UNSET
    warning: Annotated[str, Meta(description="What happens beyond the budget")] | UnsetType = UNSET


class ResultFile(Response):
    """Something in a result to be seen, heard, saved or followed."""

    kind: Literal["image", "audio", "file", "link"]
    index: Annotated[int, Meta(description="Its position in the result's content")]
    mime: Annotated[str, Meta(description="As the tool claims, unless it is a picture or sound of another type")]
    size: Annotated[int, Meta(description="In bytes")]
    name: str = ""
    uri: Annotated[str, Meta(description="Of a link")] = ""
    result_id: Annotated[str, Meta(description="Of the kept result that holds it")] | UnsetType = UNSET
    data: Annotated[str, Meta(description="In base64, where it was asked for")] | UnsetType = UNSET
