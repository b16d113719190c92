"""The server itself: health, search, and conversations on their way in and out."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from windlass.api.schemas.base import Object, Request, Response, Time
from windlass.api.schemas.conversations import ContextItem, Conversation, Message
from windlass.api.schemas.tools import EnabledTool

Import = Annotated[
    dict[str, Any] | list[Any],
    Meta(
        description="An export of our own, `{messages: [...], title?}` with messages in OpenAI's form, or the bare "
        "list of them. Broken histories are repaired: calls without results, results without calls, odd arguments.",
        examples=[{"title": "Old chat", "messages": [{"role": "user", "content": "Hello"}]}],
    ),
]
EventStream = Annotated[
    str,
    Meta(
        description="Server-sent events. `id` counts in the conversation; send the last one as `Last-Event-ID` to go "
        "on after it. `data` is JSON with `turn_id` and `seq`. Events without an id are passing: they are not repeated."
    ),
]
ChangesStream = Annotated[
    str,
    Meta(
        description="Server-sent events. `conversation_changed` has `id` and `conversation`, its row as the "
        "list has it, null once it is deleted. It has no id and is not repeated: read the list after "
        "connecting. With `conversation_id` the events of that conversation come too, as its own stream sends them."
    ),
]
Description = Annotated[dict[str, Any], Meta(description="OpenAPI 3.1")]
Metrics = Annotated[str, Meta(description="Prometheus text format")]


class ExportQuery(Request):
    format: Literal["json", "markdown"] = "json"


class MessagesQuery(Request):
    head: Annotated[str, Meta(max_length=200, description="Another turn to end at: another branch")] = ""
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many at most; all of them without it")] | None = None
    cursor: Annotated[str, Meta(max_length=200, description="`next_cursor` of the page before")] = ""


class ExportedTurn(Response):
    id: str
    parent_turn_id: str | None
    outcome: str | None
    started_at: Time
    messages: list[Message]


class Export(Response):
    format: Literal["windlass"]
    version: int
    exported_at: Time
    conversation: Conversation
    context: list[ContextItem]
    enabled_tools: list[EnabledTool]
    messages: Annotated[list[Message], Meta(description="The path to the head")]
    turns: Annotated[list[ExportedTurn], Meta(description="All branches; unfinished turns as far as they got")]


class Imported(Response):
    conversation: Conversation
    count: Annotated[int, Meta(description="How many messages came in")]
    repairs: Annotated[list[str], Meta(description="What was repaired")]
    success: bool = True
    message: str = ""


class Health(Response):
    status: Literal["ok"]
    version: str
    success: bool = True


LimitSource = Literal["default", "file", "saved"]


class Limit(Response):
    name: Annotated[str, Meta(description="As in windlass.toml, under [limits]", examples=["rounds"])]
    value: Annotated[float | None, Meta(description="null: none")]
    default: float | None
    source: LimitSource
    live: Annotated[bool, Meta(description="PATCH /limits changes it; the others are read at the start")] = False


class LimitChange(Request):
    limits: Annotated[
        dict[str, float | None],
        Meta(description="By name; null for none", min_length=1, max_length=32, examples=[{"silence_s": 240}]),
    ]


class LimitList(Response):
    limits: list[Limit]
    count: int
    success: bool = True


class SearchState(Response):
    backend: Annotated[str, Meta(description="As in windlass.toml, under [web_search]", examples=["auto"])]
    prefix: Annotated[bool, Meta(description="Whether a message that begins with `//` asks for a search")]
    ready: Annotated[bool, Meta(description="Whether the default provider's turns can search")]
    reason: Annotated[str, Meta(description="Why not, in words for a person; empty when it is ready")]
    success: bool = True


class Ready(Response):
    status: Literal["ready"]
    version: str
    running_turns: int
    waiting_turns: int
    watchers: int
    servers: Annotated[Object, Meta(description="How many servers in each status")]
    success: bool = True


class SearchTest(Request):
    query: Annotated[
        str, Meta(min_length=1, max_length=1000, pattern=r"\S", examples=["weather in Nanaimo"], description="What for")
    ]


class SearchHit(Response):
    title: str
    url: str


class SearchTrial(Response):
    backend: Annotated[str, Meta(examples=["brave"])]
    works: bool
    told: Annotated[str, Meta(description="How many results in what time, or why there are none")]
    hits: list[SearchHit]


class SearchTrials(Response):
    trials: Annotated[list[SearchTrial], Meta(description="In the order in which they are asked; empty: search is off")]
    count: int
    success: bool = True
