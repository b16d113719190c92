"""What all schemas share: plain field types with their bounds, the two bases, errors and paging."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Slug = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$", examples=["files"])]
Title = Annotated[str, Meta(max_length=300)]
Prose = Annotated[str, Meta(max_length=200_000)]
MessageText = Annotated[
    str, Meta(min_length=1, max_length=1_000_000, pattern=r"\S", examples=["What files are in /docs?"])
]
Time = Annotated[str, Meta(description="ISO 8601, UTC", examples=["2025-01-11T19:00:00Z"])]
Temperature = Annotated[float, Meta(ge=0, le=2)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Budget = Annotated[int, Meta(ge=1, le=100_000_000)]
Rounds = Annotated[int, Meta(ge=1, le=100)]
Names = Annotated[list[Annotated[str, Meta(max_length=1000)]], Meta(max_length=1000)]
Approval = Literal["auto", "ask", "deny"]
ToolClass = Literal["reads", "changes", "sends"]
WebSearch = Literal["auto", "on", "off"]
Object = dict[str, Any]  # tool arguments and JSON schemas, whose shape is the server's business


class Request(Struct, forbid_unknown_fields=True):
    """A request body. Unknown fields are refused, so that a misspelt one is not silently ignored."""


class Response(Struct):
    """A response body."""


class Acknowledged(Response):
    success: bool = True
    message: str = "Acknowledged"


class Error(Response):
    code: Annotated[str, Meta(description="For programs", examples=["not_found"])]
    message: Annotated[str, Meta(description="What happened", examples=["There is no chat conv-1."])]
    hint: Annotated[str, Meta(description="What to do about it")] | UnsetType = UNSET
    detail: Annotated[Any, Meta(description="Where exactly, for machines")] | UnsetType = UNSET


class Failed(Response):
    error: Error
    success: bool = False


class PageQuery(Request):
    limit: Annotated[int, Meta(ge=1, le=200, description="How many at most")] = 50
    cursor: Annotated[str, Meta(max_length=200, description="`next_cursor` of the page before")] = ""


class SearchQuery(Request):
    q: Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S", description="Words to find in messages")]
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
