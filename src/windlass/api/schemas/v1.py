"""OpenAI's form, as far as it is read and written here. Fields we do not know are left alone, as every SDK has some."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from windlass.api.schemas.base import Object, Response, Temperature


class StreamOptions(Struct):
    include_usage: bool = False


class CompletionRequest(Struct):
    """A stateless chat. Server tools that are on by default, or the persona's, run inside; `tools` of the caller's own
    come back as `tool_calls`."""

    messages: Annotated[
        list[Object], Meta(min_length=1, max_length=10_000, examples=[[{"role": "user", "content": "Hello"}]])
    ]
    model: Annotated[str, Meta(max_length=200, description="A model, or `windlass/PERSONA`")] = ""
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Annotated[int, Meta(ge=1, le=1, description="One answer to one request")] | None = None
    temperature: Temperature | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    max_completion_tokens: Annotated[int, Meta(ge=1, le=10_000_000, description="The newer name")] | None = None
    tools: Annotated[list[Object], Meta(max_length=512)] | None = None
    tool_choice: Annotated[Any, Meta(description="`auto`, `none`, `required`, or one function of `tools`")] = None


class V1Function(Response):
    name: str
    arguments: str


class V1Call(Response):
    id: str
    function: V1Function
    type: Literal["function"] = "function"
    index: int | UnsetType = UNSET


class UrlCitation(Response):
    url: str
    title: str
    start_index: int = 0
    end_index: int = 0


class Annotation(Response):
    url_citation: UrlCitation
    type: Literal["url_citation"] = "url_citation"


class V1Message(Response):
    """A whole message, or what a chunk adds to it."""

    role: Literal["assistant"] | UnsetType = UNSET
    content: str | UnsetType | None = UNSET
    reasoning_content: str | UnsetType = UNSET
    tool_calls: list[V1Call] | UnsetType = UNSET
    annotations: list[Annotation] | UnsetType = UNSET


class V1Choice(Response):
    message: V1Message
    finish_reason: Literal["stop", "length", "tool_calls", "content_filter"]
    index: int = 0


class V1Usage(Response):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Completion(Response):
    id: str
    created: int
    model: str
    choices: list[V1Choice]
    usage: V1Usage
    object: Literal["chat.completion"] = "chat.completion"


class V1Delta(Response):
    delta: V1Message
    finish_reason: str | None = None
    index: int = 0


class Chunk(Response):
    id: str
    created: int
    model: str
    choices: list[V1Delta]
    usage: V1Usage | UnsetType | None = UNSET
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"


class V1Error(Response):
    message: str
    type: str
    code: str | None = None
    param: str | None = None


class V1Failed(Response):
    error: V1Error


class V1Model(Response):
    id: str
    owned_by: str
    created: int = 0
    object: Literal["model"] = "model"


class V1Models(Response):
    data: list[V1Model]
    object: Literal["list"] = "list"
