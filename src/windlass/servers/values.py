"""What passes between an MCP server and the rest of the house: tools as defined, results as given, questions asked."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from windlass.core.values import value_object
from windlass.servers.lines import LongLine


@value_object
class ToolDefinition:
    """A tool exactly as its server defines it. The hints are claims; None means it made none."""

    name: str
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] | None = None

    @property
    def read_only(self) -> bool | None:
        return self._hint("readOnlyHint")

    @property
    def destructive(self) -> bool | None:
        return self._hint("destructiveHint")

    @property
    def idempotent(self) -> bool | None:
        return self._hint("idempotentHint")

    @property
    def open_world(self) -> bool | None:
        return self._hint("openWorldHint")

    def _hint(self, name: str) -> bool | None:
        value = (self.annotations or {}).get(name)
        return value if isinstance(value, bool) else None


@value_object
class TextPart:
    text: str


@value_object
class MediaPart:
    kind: Literal["image", "audio"]
    mime: str
    data: str  # base64, as it came


@value_object
class LinkPart:
    uri: str
    name: str = ""
    title: str = ""
    description: str = ""
    mime: str = ""


@value_object
class EmbeddedPart:
    uri: str
    mime: str = ""
    text: str | None = None
    blob: str | None = None  # base64, as it came


Part = TextPart | MediaPart | LinkPart | EmbeddedPart


@value_object
class CallResult:
    parts: tuple[Part, ...] = ()
    structured: object = None
    failed: bool = False
    raw: Mapping[str, Any] | None = None  # all the server said, where it is more than plain text
    spilled: LongLine | None = None  # the whole answer, when it was too long to be parsed


@value_object
class Question:
    """A server asks the person something: a form with a JSON schema, or an address to visit. In the stateless era the
    call can be taken up with the answer at any later time: `request` and `state` are what the server wants back."""

    message: str
    schema: Mapping[str, Any] | None = None
    url: str = ""
    request: str = ""
    state: str | None = None


@value_object
class InputReply:
    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] | None = None


@value_object
class Answered:
    """With this a call goes on that stood still when its question was asked."""

    question: Question
    answer: InputReply


OnInput = Callable[[Question], Awaitable[InputReply]]
OnProgress = Callable[[float, float | None, str], None]
