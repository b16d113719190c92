"""The context budget: how much of a conversation's past a new turn is shown. Pure; cuts between turns only, so calls
keep their results, and never the system text or the message that was just written."""

from collections.abc import Callable, Iterable, Sequence

from windlass.core.errors import BadInput
from windlass.core.events import NO_HISTORY
from windlass.core.messages import ChatMessage, MediaRef, PastTurn, Toolset
from windlass.core.values import value_object

PER_MESSAGE = 4  # what role and separators cost on most wires
PER_PICTURE = 1000  # of a usual size; makers count between 85 and 1,600
SOUND_BYTES = 2000  # that are about a token
IN_WORDS = 40
Takes = Callable[[str], bool]  # whether the model takes a picture or sound of this type


def takes_all(mime: str) -> bool:
    return True


@value_object
class Budget:
    """None: no limit."""

    max_tokens: int | None = None
    max_messages: int | None = None


@value_object
class Kept:
    """`history_from` as a turn's settings want it. `tokens` is an estimate, also where nothing was cut."""

    history_from: str = ""
    cut_turns: int = 0
    cut_messages: int = 0
    tokens: int = 0


def kept_within(
    budget: Budget,
    system: str,
    past: Sequence[PastTurn],
    opening: Sequence[ChatMessage],
    tools: Toolset | None = None,
    takes: Takes = takes_all,
) -> Kept:
    """As many of the latest turns as fit. `BadInput` when the new message alone is too long."""
    opening_tokens = messages_tokens(opening, takes)
    fixed = estimated_tokens(system) + opening_tokens + (tools_tokens(tools) if tools else 0)
    if budget.max_tokens is not None and fixed > budget.max_tokens:
        raise _too_long(fixed, opening_tokens, budget.max_tokens)
    tokens, messages, start = fixed, len(opening), len(past)
    while start > 0:
        turn = past[start - 1]
        more = messages_tokens(turn.messages, takes)
        if not _fits(budget, tokens + more, messages + len(turn.messages)):
            break
        tokens, messages, start = tokens + more, messages + len(turn.messages), start - 1
    return Kept(_history_from(past, start), start, sum(len(turn.messages) for turn in past[:start]), tokens)


def messages_tokens(messages: Iterable[ChatMessage], takes: Takes = takes_all) -> int:
    return sum(_message_tokens(message, takes) for message in messages)


def tools_tokens(tools: Toolset) -> int:
    return sum(
        PER_MESSAGE + estimated_tokens(tool.name) + estimated_tokens(tool.description) + estimated_tokens(tool.schema)
        for tool in tools.tools
    )


def estimated_tokens(text: str) -> int:
    """An estimate, and to be labelled as one: tokenizers that fit a given model are large downloads. Four letters of
    plain English are about a token; of other scripts about three bytes are, so one Chinese character. It rather says
    too much than too little."""
    plain = len(text.encode("ascii", "ignore"))
    other = len(text.encode("utf-8", "replace")) - plain
    return -(-plain // 4) + -(-other // 3)


def _message_tokens(message: ChatMessage, takes: Takes) -> int:
    calls = sum(estimated_tokens(call.name) + estimated_tokens(call.arguments) + PER_MESSAGE for call in message.calls)
    text = estimated_tokens(message.content or "") + estimated_tokens(message.reasoning)
    media = sum(_media_tokens(part, takes) for part in message.parts if isinstance(part, MediaRef))
    attached = sum(estimated_tokens(one.text) + PER_MESSAGE for one in message.attached)
    return PER_MESSAGE + text + calls + attached + media


def _media_tokens(ref: MediaRef, takes: Takes) -> int:
    if not takes(ref.mime):
        return IN_WORDS
    return PER_PICTURE if ref.mime.startswith("image/") else -(-ref.size // SOUND_BYTES)


def _fits(budget: Budget, tokens: int, messages: int) -> bool:
    return (budget.max_tokens is None or tokens <= budget.max_tokens) and (
        budget.max_messages is None or messages <= budget.max_messages
    )


def _history_from(past: Sequence[PastTurn], start: int) -> str:
    if start == 0:
        return ""
    return past[start].turn_id if start < len(past) else NO_HISTORY


def _too_long(fixed: int, opening: int, limit: int) -> BadInput:
    return BadInput(
        f"This message is too long for the chat's budget: it takes about {opening} tokens, {fixed} with the "
        f"system prompt and the tools (an estimate), and the budget is {limit}.",
        hint="Shorten the message, raise the chat's max_tokens, or enable fewer tools.",
        code="message_too_long",
        detail={"estimated_tokens": fixed, "message_tokens": opening, "max_tokens": limit},
    )
