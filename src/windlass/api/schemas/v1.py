"""OpenAI's form, as far as it is read and written here. What becomes of each parameter of a request, also of those that
have no field here, stands in `services/v1_parameters.py`."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from windlass.api.schemas.base import Object, Response, Temperature


class StreamOptions(Struct, forbid_unknown_fields=True):
    include_usage: bool = False
    include_obfuscation: bool = False


class WindlassOptions(Struct, forbid_unknown_fields=True):
    tools: Annotated[
        str | list[str], Meta(description="`none`, `persona`, or server tools as `server.tool`, with `*`")
    ] = ""


class CompletionRequest(Struct):
    """A stateless chat. Server tools that are on by default, or the persona's, run inside; `tools` of the caller's own
    come back as `tool_calls`. Further parameters are passed on to the model's provider; docs/openai-clients.md has the
    table."""

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
    tool_choice: Annotated[
        Any, Meta(description="`auto`, `none`, `required`, one function of `tools`, or `allowed_tools`")
    ] = None
    response_format: Annotated[
        Object | None, Meta(description="`text`, `json_object` or `json_schema`; the answer is checked")
    ] = None
    modalities: Annotated[list[str], Meta(description='Only `["text"]`')] | None = None
    windlass: Annotated[WindlassOptions, Meta(description="Our own; not passed on")] | None = None


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
    refusal: str | UnsetType | None = UNSET
    reasoning_content: str | UnsetType = UNSET
    tool_calls: list[V1Call] | UnsetType = UNSET
    annotations: list[Annotation] | UnsetType = UNSET


class V1Choice(Response):
    message: V1Message
    finish_reason: Literal["stop", "length", "tool_calls", "content_filter"]
    index: int = 0
    logprobs: Object | None = None


class PromptDetails(Response):
    cached_tokens: int = 0


class CompletionDetails(Response):
    reasoning_tokens: int = 0


class V1Usage(Response):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptDetails | UnsetType = UNSET
    completion_tokens_details: CompletionDetails | UnsetType = UNSET


class Completion(Response):
    id: str
    created: int
    model: str
    choices: list[V1Choice]
    usage: V1Usage
    object: Literal["chat.completion"] = "chat.completion"
    system_fingerprint: str | UnsetType = UNSET
    service_tier: str | UnsetType = UNSET


class V1Delta(Response):
    delta: V1Message
    finish_reason: str | None = None
    index: int = 0
    logprobs: Object | UnsetType | None = UNSET


class Chunk(Response):
    id: str
    created: int
    model: str
    choices: list[V1Delta]
    usage: V1Usage | UnsetType | None = UNSET
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    system_fingerprint: str | UnsetType = UNSET
    service_tier: str | UnsetType = UNSET


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


class EmbeddingsRequest(Struct):
    """Passed on to the model's provider as it is, under its key."""

    input: Annotated[Any, Meta(description="A text, a list of texts, or tokens")]
    model: Annotated[str, Meta(max_length=200, description="A model, or `PROVIDER/model`")] = ""


class Embeddings(Response):
    """As the provider answers."""

    data: list[Object]
    model: str = ""
    object: str = "list"
    usage: Object | UnsetType = UNSET
