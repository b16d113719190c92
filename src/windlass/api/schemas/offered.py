"""What servers offer besides tools: resources, templates of their addresses, prompts, completion."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from windlass.api.schemas.base import Request, Response

Uri = Annotated[str, Meta(min_length=1, max_length=8000, examples=["file:///docs/a.md"])]
Filled = Annotated[
    dict[Annotated[str, Meta(max_length=200)], Annotated[str, Meta(max_length=100_000)]], Meta(max_length=100)
]


class OfferedQuery(Request):
    q: Annotated[str, Meta(max_length=500, description="Words that address, name or description hold")] = ""
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many at most")] = 200


class ServerResource(Response):
    uri: str
    name: str
    title: str
    description: str
    mime: str
    size: Annotated[int | None, Meta(description="Bytes, as the server claims")]


class ServerResources(Response):
    resources: list[ServerResource]
    count: int
    total: Annotated[int, Meta(description="How many match; of one server at most 10,000 are known")]
    status: str
    success: bool = True


class ServerTemplate(Response):
    uri_template: Annotated[str, Meta(examples=["file:///docs/{name}"])]
    name: str
    title: str
    description: str
    mime: str
    arguments: Annotated[list[str], Meta(description="Its parts to be filled in")]


class ServerTemplates(Response):
    templates: list[ServerTemplate]
    count: int
    status: str
    success: bool = True


class ServerPromptArgument(Response):
    name: str
    title: str
    description: str
    required: bool


class ServerPrompt(Response):
    name: str
    title: str
    description: str
    arguments: list[ServerPromptArgument]


class ServerPrompts(Response):
    prompts: list[ServerPrompt]
    count: int
    status: str
    completes: Annotated[bool, Meta(description="The server completes arguments")]
    success: bool = True


class ReadServerResource(Request):
    uri: Uri


class ResourceContent(Response):
    uri: str
    mime: str
    text: str | None
    blob: Annotated[str | None, Meta(description="In base64, where it is not text")]
    size: Annotated[int, Meta(description="Characters of the text, or bytes")]
    truncated: Annotated[bool, Meta(description="Only its beginning is here, or nothing of what is not text")] = False


class ReadResourceAnswer(Response):
    contents: list[ResourceContent]
    success: bool = True


class FillServerPrompt(Request):
    name: Annotated[str, Meta(min_length=1, max_length=1000)]
    arguments: Filled = field(default_factory=dict)


class ServerPromptMessage(Response):
    role: Literal["user", "assistant"]
    type: Literal["text", "resource", "other"]
    text: str
    uri: Annotated[str, Meta(description="Of an embedded resource")] | UnsetType = UNSET


class FilledServerPrompt(Response):
    description: str
    text: Annotated[str, Meta(description="All of it as one message, as it is inserted where a person writes")]
    messages: list[ServerPromptMessage]
    notes: Annotated[list[str], Meta(description="What of it cannot be part of a message")]
    success: bool = True


class CompleteArgument(Request):
    """Of a prompt, or of a resource template."""

    argument: Annotated[str, Meta(min_length=1, max_length=200)]
    prompt: Annotated[str, Meta(max_length=1000)] = ""
    template: Annotated[str, Meta(max_length=8000)] = ""
    value: Annotated[str, Meta(max_length=10_000, description="What is typed so far")] = ""
    arguments: Annotated[Filled, Meta(description="Those that are filled in already")] = field(default_factory=dict)


class CompletedArgument(Response):
    values: list[str]
    has_more: bool
    success: bool = True


class AttachedResource(Request):
    """A resource to be read before the turn begins. Its text is given to the model as text from outside."""

    server: Annotated[str, Meta(min_length=1, max_length=200, description="Slug or id")]
    uri: Uri


class ShownAttachment(Response):
    server: Annotated[str, Meta(description="Its slug")]
    uri: str
    text: str
