"""Conversations, their messages and their context items."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from windlass.api.schemas.base import Budget, Error, Name, Names, Prose, Request, Response, Temperature, Time, Title
from windlass.api.schemas.offered import ShownAttachment
from windlass.api.schemas.tools import ResultFile
from windlass.api.schemas.waiting import TurnWaiting


class NewConversation(Request):
    title: Annotated[Title, Meta(description="Made from the first message when empty")] = ""
    description: Annotated[str, Meta(max_length=10_000)] = ""
    system_prompt: Annotated[Prose, Meta(description="Empty: the persona's")] = ""
    persona: Annotated[str, Meta(max_length=200, description="Id of a persona", examples=["assistant"])] = ""
    provider: Annotated[str, Meta(max_length=200, description="Id of a provider; empty: the default")] = ""
    model: Annotated[str, Meta(max_length=200, description="Empty: the persona's, else the default")] = ""
    temperature: Temperature | None = None
    max_tokens: Annotated[Budget | None, Meta(description="Context budget in tokens; null: none")] = None
    max_messages: Annotated[Budget | None, Meta(description="Context budget in messages; null: none")] = None


class ConversationChange(Request):
    """PATCH and PUT alike: a field left out stays as it is."""

    title: Title | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=10_000)] | UnsetType = UNSET
    system_prompt: Prose | UnsetType = UNSET
    persona: Annotated[str, Meta(max_length=200)] | UnsetType = UNSET
    provider: Annotated[str, Meta(max_length=200)] | UnsetType = UNSET
    model: Annotated[str, Meta(max_length=200)] | UnsetType = UNSET
    temperature: Temperature | UnsetType | None = UNSET
    max_tokens: Budget | UnsetType | None = UNSET
    max_messages: Budget | UnsetType | None = UNSET


class MessageHit(Response):
    turn_id: str
    message_id: str
    role: Literal["user", "assistant", "system", "tool"]
    at: Time
    pieces: Annotated[
        list[str],
        Meta(
            description="An excerpt in plain text: words around, word found, words around, ... and words around at last"
        ),
    ]


class Conversation(Response):
    id: Annotated[str, Meta(examples=["conv-06fq3k9v1e7m8t2a4c5d6f7g8h"])]
    title: str
    description: str
    system_prompt: str
    persona: str
    provider: str
    model: str
    temperature: float | None
    max_tokens: int | None
    max_messages: int | None
    created_at: Time
    updated_at: Time
    head_turn_id: Annotated[str | None, Meta(description="The newest turn; messages are the path to it")] = None
    state: Annotated[
        Literal["empty", "running", "awaiting_person", "finished"], Meta(description="Of the newest turn")
    ] = "empty"
    outcome: str | None = None
    approvals: Annotated[int, Meta(description="Calls in it that wait for approval")] = 0
    unknowns: Annotated[int, Meta(description="Calls in it whose outcome a person must tell")] = 0
    questions: Annotated[int, Meta(description="Calls in it whose tool asks a person something")] = 0
    waiting: Annotated[
        TurnWaiting | None, Meta(description="What its newest turn waits for, once that has lasted 3 seconds")
    ] = None
    client: Annotated[
        str, Meta(description="The program whose calls over MCP these are; listed while one of them waits")
    ] = ""
    excerpt: Annotated[str, Meta(description="Where a search found its words: its best hit as text")] | UnsetType = (
        UNSET
    )
    hits: Annotated[list[MessageHit], Meta(description="Of a search, best first; at most 5")] | UnsetType = UNSET


class ConversationAnswer(Response):
    conversation: Conversation
    success: bool = True
    message: str = ""


class ConversationList(Response):
    conversations: list[Conversation]
    count: int
    next_cursor: Annotated[str | None, Meta(description="For the next page; null on the last one")] = None
    success: bool = True


class FunctionCall(Response):
    name: Annotated[str, Meta(examples=["list_directory"])]
    arguments: Annotated[str, Meta(description="A JSON object as text", examples=['{"path": "/docs"}'])] = "{}"


class CallInMessage(Response):
    id: Annotated[str, Meta(min_length=1, max_length=200)]
    function: FunctionCall
    type: Literal["function"] = "function"


class Source(Response):
    n: Annotated[int, Meta(description="Cited as [n]")]
    title: str
    url: str
    call_id: str | UnsetType = UNSET


class TokenUsage(Response):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


class Message(Response):
    id: Annotated[str, Meta(examples=["msg-06fq3k9v1e7m8t2a4c5d6f7g8h-0"])]
    role: Literal["user", "assistant", "system", "tool"]
    content: str | None
    timestamp: Time
    tool_calls: list[CallInMessage] | UnsetType = UNSET
    tool_call_id: str | UnsetType = UNSET
    name: Annotated[str, Meta(description="The tool's name, on its result")] | UnsetType = UNSET
    turn_id: str | UnsetType = UNSET
    sources: list[Source] | UnsetType = UNSET
    unknown_citations: Annotated[list[int], Meta(description="Numbers it cites that no source has")] | UnsetType = UNSET
    usage: TokenUsage | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    attached: Annotated[list[ShownAttachment], Meta(description="Resources that came with it")] | UnsetType = UNSET
    error: Error | UnsetType = UNSET
    files: Annotated[list[ResultFile], Meta(description="On a tool's result: what is more than text")] | UnsetType = (
        UNSET
    )
    model: Annotated[str, Meta(description="`provider/model` that answered, where it was a fallback")] | UnsetType = (
        UNSET
    )


class NewMessage(Request):
    role: Literal["user", "assistant", "system", "tool"]
    content: Annotated[str, Meta(max_length=1_000_000)] | None = None
    tool_calls: Annotated[list[CallInMessage], Meta(max_length=128)] | None = None
    tool_call_id: (
        Annotated[str, Meta(max_length=200, description="Of a call in the assistant message added just before")] | None
    ) = None
    name: Annotated[str, Meta(max_length=200, description="The tool's name; that of the call is kept")] | None = None


class MessageAnswer(Response):
    message: Message
    success: bool = True


class MessageList(Response):
    messages: list[Message]
    count: int
    next_cursor: str | None = None
    success: bool = True


class Deleted(Response):
    deleted: Annotated[list[str], Meta(description="Every message that is gone: half a tool pair takes the other")]
    success: bool = True
    message: str = "Deleted"


KEYWORDS = "Labels, shown to the model with the content. They select nothing: the item is part of every prompt"
FILES = "Labels, shown to the model as names. No file is read"


class NewContextItem(Request):
    """Joined to the system prompt of every turn in this conversation."""

    descriptive_name: Name
    content: Prose
    related_keywords: Annotated[Names, Meta(description=KEYWORDS)] = field(default_factory=list)
    related_files: Annotated[Names, Meta(description=FILES)] = field(default_factory=list)


class ContextItemChange(Request):
    descriptive_name: Name | UnsetType = UNSET
    content: Prose | UnsetType = UNSET
    related_keywords: Annotated[Names, Meta(description=KEYWORDS)] | UnsetType = UNSET
    related_files: Annotated[Names, Meta(description=FILES)] | UnsetType = UNSET


class ContextItem(Response):
    id: str
    descriptive_name: str
    related_keywords: Annotated[list[str], Meta(description=KEYWORDS)]
    related_files: Annotated[list[str], Meta(description=FILES)]
    content: str


class ContextAnswer(Response):
    context_id: str
    context: ContextItem
    success: bool = True
    message: str = ""


class ContextList(Response):
    context: list[ContextItem]
    count: int
    success: bool = True
