"""The content of a conversation, as values: messages, calls, tools and their results."""

from dataclasses import field
from typing import Literal

from windlass.core.values import value_object

Role = Literal["user", "assistant", "system", "tool"]
CallState = Literal["ok", "error", "denied", "cancelled", "unknown"]
Choice = Literal["auto", "none", "required"]
ToolClass = Literal["reads", "changes", "sends"]  # sends: its arguments choose who receives
NO_RESULT = '{"error": "No result was recorded for this call."}'
PYTHON = "python"  # as the server of a call: a function of the program that embeds Windlass


@value_object
class ToolCall:
    """A call the model asked for. `arguments` is always the text of a JSON object: it can go back on any wire."""

    id: str
    name: str
    arguments: str = "{}"
    wire_id: str = ""
    raw: str = ""  # the arguments as the model wrote them, where they differ
    broken: str = ""  # why `raw` could not be read; such a call is never run
    repairs: tuple[str, ...] = ()
    extra: str = ""  # opaque JSON a provider attached; goes back to that provider only


@value_object
class MediaRef:
    """A picture or a sound, by where its bytes are kept: neither messages nor logs hold any."""

    source: str  # id of a kept result
    at: int  # its position in the result's content
    mime: str  # by its content, not as claimed
    size: int  # bytes, once decoded


@value_object
class Attachment:
    """A resource of a server, as it was read when its message was sent."""

    id: str
    server: str  # its slug
    uri: str
    text: str


@value_object
class ChatMessage:
    role: Role
    content: str | None
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    name: str = ""
    reasoning: str = ""
    parts: tuple[str | MediaRef, ...] = ()  # of more than text: a user's all in order; a result's media, fenced
    attached: tuple[Attachment, ...] = ()


@value_object
class SentPrompt:
    """What a request was made of: its parts, each as `name:digest`, and the earlier turns it showed."""

    parts: tuple[str, ...]
    history_from: str
    history: str  # a digest of those turns
    media: str = ""  # as `ModelReplied` has it


@value_object
class PastTurn:
    """A finished turn as later prompts show it. `revision` grows when a message is deleted; encoders cache by both."""

    turn_id: str
    messages: tuple[ChatMessage, ...]
    revision: int = 0
    provider: str = ""  # its reasoning goes back to this one alone
    sent: SentPrompt | None = None  # its last request
    media: tuple[MediaRef, ...] = ()  # in its messages


@value_object
class Usage:
    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0


@value_object
class SourceLink:
    title: str
    url: str


@value_object
class OutputFile:
    """Something in a result to be seen, heard, saved or followed. `at` is its position in the result's content."""

    kind: Literal["image", "audio", "file", "link"]
    at: int
    name: str = ""
    mime: str = ""
    size: int = 0  # bytes, once decoded
    uri: str = ""  # of a link
    true_mime: str = ""  # of a picture or sound that models may take, by its content


@value_object
class ToolOutput:
    """What a tool gave: `text` is what the model reads, the whole is kept under `result_id`."""

    text: str
    result_id: str = ""
    size: int = 0
    shortened: bool = False
    digest: str = ""
    sources: tuple[SourceLink, ...] = ()
    untrusted: bool = False  # from outside: afterwards, calls that reach out ask
    foreign: bool = False  # others wrote it; this and what is untrusted is fenced in the prompt
    failed: bool = False  # the tool itself says so
    files: tuple[OutputFile, ...] = ()
    loads: tuple[str, ...] = ()  # names of tools that further requests of the turn list


@value_object
class ToolSpec:
    """One tool as it is offered in a turn. `name` is what the model calls, `tool` what the server calls it."""

    name: str
    server: str  # server id; "windlass" for built-in tools, "caller" for tools handed back to an API client
    tool: str
    description: str = ""
    schema: str = '{"type":"object","properties":{}}'  # cleaned for the model
    hash: str = ""  # of the definition as the server gave it
    safe: bool = False  # may be repeated: declared so, by a server the operator trusts
    approval: str = ""  # auto, ask or deny as somebody explicitly set it for this conversation; "" for none
    read_only: bool = False  # these three are the server's claims, not facts
    destructive: bool = False
    open_world: bool = False
    kind: ToolClass = "changes"  # guessed, or as a person corrected it
    named: bool = False  # enabled one by one, by its name, rather than by a pattern
    address: str = ""  # the argument with the address, of a tool that does nothing but fetch it
    entry: str = ""  # for a tool the provider can run itself: its whole entry in a request's `tools`, as JSON
    strict: bool = False  # an API client wants arguments that match the schema exactly


@value_object
class Toolset:
    """The tools frozen into a turn; stored once per hash."""

    hash: str = ""
    tools: tuple[ToolSpec, ...] = ()
    by_name: dict[str, ToolSpec] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {tool.name: tool for tool in self.tools})
