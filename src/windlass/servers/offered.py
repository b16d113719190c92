"""What a server offers besides tools: resources, templates of their addresses, prompts and completions of what a person
types. Values; nothing here talks to a server."""

from typing import Literal

from windlass.core.values import value_object
from windlass.servers.values import EmbeddedPart, LongLine, Part

ListKind = Literal["tools", "resources", "prompts"]  # what a server announces changes of
MOST_LISTED = 10_000  # of one kind; more are left out
LONGEST_URI = 8_000
LONGEST_DESCRIPTION = 2_000
LONGEST_NAME = 500  # and title
MOST_OF_LIST = 8 << 20  # characters of one kind; what is beyond is left out


@value_object
class ServerAbilities:
    """Which of these a server says it has; of one that does not run, none."""

    resources: bool = False
    prompts: bool = False
    completions: bool = False


@value_object
class ListedResource:
    uri: str
    name: str = ""
    title: str = ""
    description: str = ""
    mime: str = ""
    size: int | None = None  # bytes, as the server claims


@value_object
class ListedTemplate:
    """`uri` is a template as RFC 6570 writes it, such as `file:///{path}`."""

    uri: str
    name: str = ""
    title: str = ""
    description: str = ""
    mime: str = ""


@value_object
class PromptArgument:
    name: str
    title: str = ""
    description: str = ""
    required: bool = False


@value_object
class ListedPrompt:
    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@value_object
class ReadResource:
    """What a resource holds; `spilled` is the server's whole answer, when it was too long to be parsed."""

    contents: tuple[EmbeddedPart, ...] = ()
    spilled: LongLine | None = None


@value_object
class PromptMessage:
    role: Literal["user", "assistant"]
    part: Part


@value_object
class FilledPrompt:
    description: str
    messages: tuple[PromptMessage, ...]


@value_object
class Completed:
    """What may be meant by an argument that is half typed."""

    values: tuple[str, ...] = ()
    has_more: bool = False
