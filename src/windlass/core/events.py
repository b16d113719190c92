"""Everything that can happen in a turn. The log of these is the turn's whole state; all else is computed from it."""

from typing import Literal

from windlass.core.messages import CallState, ChatMessage, Choice, SourceLink, ToolCall, ToolOutput, Usage
from windlass.core.values import value_object

Outcome = Literal["answered", "limit", "stopped", "failed", "handed_over", "added"]
Origin = Literal["chat", "continue", "retry", "call_retry", "added", "v1", "mcp"]
Search = Literal["off", "offered", "due"]
Verdict = Literal["auto", "ask", "refuse"]
Refusal = Literal["", "unknown_tool", "bad_arguments", "policy", "changed", "over_limit", "handed_over"]
Scope = Literal["once", "conversation", "always"]
NO_HISTORY = "none"  # as `history_from`: the prompt shows no earlier turn


@value_object
class Limits:
    rounds: int = 10
    calls: int = 128
    attempts: int = 4
    claims: int = 3
    bad_tries: int = 3
    repeats: int = 8
    work_s: float = 1800
    tokens: int | None = None


@value_object
class MissingServer:
    """A server whose tools were enabled and could not be offered."""

    server: str
    state: str
    reason: str = ""


@value_object
class Settings:
    """Frozen at the start, so that a turn resumed next week is the same turn."""

    provider: str = ""
    model: str = ""
    temperature: float | None = None
    persona: str = ""
    system: str = ""
    search: Search = "off"
    query: str = ""  # what to search for when the model, asked to, does not; with `search` off: asked for in vain
    toolset: str = ""
    listed: tuple[str, ...] = ()  # of the toolset, in order, what the first request lists; () for all of it
    most_listed: int = 0  # as many as the list may grow to
    history_from: str = ""  # the first earlier turn the prompt shows; "" shows all of the path
    limits: Limits = Limits()
    max_tokens: int | None = None  # of one reply
    choice: Choice = "auto"  # for the first request; after a call the model is free
    asks: Literal["wait", "refuse"] = "wait"  # what becomes of a call that needs approval
    parameters: str = ""  # further fields of each request to the model, as a JSON object; "" for none
    output: str = ""  # the form that the answer must have: OpenAI's `response_format` as JSON; "" for any
    fallback: tuple[tuple[str, str], ...] = ()  # provider and model, asked in order when the first cannot answer
    system_parts: tuple[str, ...] = ()  # what `system` was made of, each part as `name:digest`
    note: str = ""  # to the model, of this message alone; stands behind it, so that the text before stays as it was
    missing: tuple[MissingServer, ...] = ()


@value_object
class TurnStarted:
    opening: tuple[ChatMessage, ...]
    settings: Settings = Settings()
    origin: Origin = "chat"
    client_message_id: str = ""
    blanked: tuple[int, ...] = ()  # indexes in `opening` whose text was deleted
    client: str = ""  # of a call over MCP: the calling program and its version, as it names itself


@value_object
class TurnClaimed:
    driver: str = ""
    epoch: int = 0


@value_object
class ModelReplied:
    text: str
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    usage: Usage = Usage()
    finish: str = "stop"
    model: str = ""
    repairs: tuple[str, ...] = ()
    raw: str = ""  # kept when something was repaired
    sources: tuple[SourceLink, ...] = ()  # from a search the provider ran itself
    first_ms: int = 0
    took_ms: int = 0
    blanked: bool = False
    promised: bool = False  # it only announces a search: the model is asked again
    extra: str = ""  # what else came with the reply and only an API client asked for, as a JSON object
    provider: str = ""  # that was asked
    history: str = ""  # digest of the earlier turns that the request showed
    listed: str = ""  # hash of the tools that the request listed, where it is not the turn's whole toolset
    moved: tuple[str, ...] = ()  # why the request does not begin with the one before it; empty: it does
    media: str = ""  # how the request showed each picture and sound in it: a letter of the adapter's for each


@value_object
class ModelFailed:
    cause: str
    message: str = ""
    hint: str = ""
    retryable: bool = False
    wait_s: float = 0
    partial: str = ""
    status: int = 0
    took_ms: int = 0
    host: str = ""
    model: str = ""
    first_byte_ms: int = 0  # of the time for a first byte that all attempts of a request share, spent by this one
    silence_ms: int = 0  # the same of the time without output


@value_object
class CallJudged:
    call_id: str
    verdict: Verdict
    rule: str = ""
    tool_hash: str = ""
    safe: bool = False
    refusal: Refusal = ""
    reason: str = ""
    server: str = ""
    step: int = 0  # of the steps of approval, 1 to 7; 0 where the call was decided before them
    permission: str = ""  # id of the rule, grant or setting that decided; "" where none did
    reads: bool = False  # it changes nothing: stopped or broken, its outcome is never in doubt
    outside: str = ""  # what brought text from outside into the chat, where that makes it ask


@value_object
class CallDecided:
    call_id: str
    allow: bool
    scope: Scope = "once"
    arguments: str = ""  # the person's own, where they changed them
    reason: str = ""
    by: str = ""
    permission: str = ""  # id of the grant that was saved with it


@value_object
class CallResolved:
    call_id: str
    how: Literal["retry", "done", "skip"]
    by: str = ""


@value_object
class ToolStarted:
    call_id: str
    safe: bool = False


@value_object
class ToolFinished:
    call_id: str
    state: CallState
    output: ToolOutput = ToolOutput("")
    cause: str = ""  # timeout, tool_error, server_gone, unknown_tool, bad_arguments, policy, person, stopped …
    took_ms: int = 0
    blanked: bool = False


@value_object
class StopRequested:
    by: str = "person"
    call_id: str = ""  # "" stops the turn


@value_object
class HistoryTrimmed:
    history_from: str
    reason: str = ""


@value_object
class TurnFinished:
    outcome: Outcome
    cause: str = ""
    message: str = ""
    hint: str = ""


OfCall = CallJudged | CallDecided | CallResolved | ToolStarted | ToolFinished | StopRequested
Event = TurnStarted | TurnClaimed | ModelReplied | ModelFailed | OfCall | HistoryTrimmed | TurnFinished


@value_object
class Recorded:
    """An event at its position: `seq` counts in the turn, `number` in the conversation."""

    seq: int
    number: int
    at: float
    event: Event
    body: bytes = b""  # as it is stored; empty where it was read back, which needs no encoding


@value_object
class Committed:
    """Rows of one turn that were committed together, for watchers."""

    conversation_id: str
    turn_id: str
    parent_id: str | None
    rows: tuple[Recorded, ...]
