"""Chat, turns, their calls, and what a person says to them."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from windlass.api.schemas.base import (
    Error,
    MessageText,
    Object,
    Request,
    Response,
    Rounds,
    Temperature,
    Time,
    WebSearch,
)
from windlass.api.schemas.conversations import Message, Source, TokenUsage
from windlass.api.schemas.offered import AttachedResource
from windlass.api.schemas.tools import ResultFile, UnavailableServer
from windlass.api.schemas.waiting import TurnWaiting

COMPLETED = "Chat completed successfully"  # as `message` of a turn that simply answered


class ChatRequest(Request):
    content: MessageText
    client_message_id: Annotated[
        str,
        Meta(max_length=200, description="The same one twice gives the same turn; so a lost answer can be asked for"),
    ] = ""
    parent_turn_id: (
        Annotated[str, Meta(max_length=200, description="Answer after this turn: a branch. Default: the newest")]
        | UnsetType
        | None
    ) = UNSET
    model: Annotated[str, Meta(max_length=200)] = ""
    temperature: Temperature | None = None
    web_search: WebSearch = "auto"
    max_rounds: Annotated[Rounds, Meta(description="Tool rounds; 1 is a single round")] | None = None
    asks: Annotated[
        Literal["wait", "refuse"],
        Meta(description="A call that needs approval: wait for a person, or refuse it and let the model answer"),
    ] = "wait"
    attachments: Annotated[
        list[AttachedResource], Meta(max_length=20, description="Resources of servers, read before the turn begins")
    ] = field(default_factory=list)


class Settle(Response):
    """A request that settles what waits, as it stands. For an approval it also lets such calls run from now on, where a
    grant can do that."""

    method: str
    path: str
    body: Object


class PendingCall(Response):
    call_id: str
    kind: Annotated[
        Literal["approval", "unknown", "input", "sign_in"],
        Meta(description="Answered by decision, resolve and input, and by signing in to its server"),
    ]
    name: str
    server_slug: str
    arguments: str
    rule: Annotated[str, Meta(description="Why a person is asked")] = ""
    hash: Annotated[str, Meta(description="Send it back with the decision: it names exactly what is allowed")] = ""
    question: str | UnsetType = UNSET
    question_schema: Object | UnsetType = UNSET
    question_url: Annotated[str, Meta(description="An address the tool asks a person to visit")] | UnsetType = UNSET
    why: Annotated[str, Meta(description="Which setting decided that a person is asked, in words")] = ""
    step: Annotated[int, Meta(description="Which of the seven steps of docs/approvals.md decided")] = 0
    permission_id: Annotated[str, Meta(description="The permission that decided, where one did")] | UnsetType = UNSET
    settle: Settle | UnsetType = UNSET


class ChatAnswer(Response):
    success: bool
    user_message: Message | None
    assistant_message: Message | None
    message: str
    turn_id: str
    outcome: Literal["answered", "limit", "stopped", "failed", "handed_over", "added", "awaiting_person"]
    sources: list[Source]
    searched: bool
    usage: TokenUsage
    rounds: int
    error: Error | UnsetType = UNSET
    pending_calls: list[PendingCall] | UnsetType = UNSET
    unavailable: (
        Annotated[list[UnavailableServer], Meta(description="Enabled tools that could not be offered")] | UnsetType
    ) = UNSET


class Call(Response):
    id: str
    name: str
    server_slug: str
    arguments: str
    state: Literal["queued", "awaiting_approval", "running", "ok", "error", "denied", "cancelled", "unknown"]
    rule: str
    hash: str
    started_at: Time | None
    finished_at: Time | None
    result_id: str | None
    repaired: Annotated[list[str], Meta(description="What was repaired in the call as the model wrote it")]
    cause: str = ""
    result: Annotated[str | None, Meta(description="The result as the model got it")] = None
    files: Annotated[list[ResultFile], Meta(description="What of the result is more than text")] = field(
        default_factory=list
    )


class Turn(Response):
    id: Annotated[str, Meta(examples=["turn-06fq3k9v1e7m8t2a4c5d6f7g8h"])]
    conversation_id: str
    parent_turn_id: str | None
    state: Literal["running", "awaiting_person", "finished"]
    outcome: str | None
    error: Error | None
    calls: list[Call]
    usage: TokenUsage
    rounds: int
    answer: str | None
    sources: list[Source]
    searched: bool
    pending_calls: list[PendingCall]
    origin: Annotated[str, Meta(description="How it began: `mcp` is a call of a program over MCP")]
    model: Annotated[str, Meta(description="That was asked last: a fallback's, where the first could not answer")]
    started_at: Time
    finished_at: Time | None
    provider: Annotated[str, Meta(description="The provider of `model`")] = ""
    waiting: TurnWaiting | None = None
    message: Annotated[str, Meta(description="How it ended, in words; also that its web search failed")] = ""
    client: Annotated[str, Meta(description="The program that calls over MCP, as it names itself")] = ""
    unavailable: Annotated[
        list[UnavailableServer], Meta(description="Servers whose enabled tools could not be offered when it began")
    ] = field(default_factory=list)


class TurnAnswer(Response):
    turn: Turn
    success: bool = True
    message: str = ""
    permission_id: Annotated[str, Meta(description="The grant that was saved with a decision")] | UnsetType = UNSET


class TurnSummary(Response):
    id: str
    parent_turn_id: str | None
    state: Literal["running", "awaiting_person", "finished"]
    outcome: str | None
    started_at: Time


class TurnList(Response):
    turns: list[TurnSummary]
    count: int
    success: bool = True


class EventLog(Response):
    events: Annotated[list[Object], Meta(description="Each as on the event stream, with `event`, `id`, `seq`, `at`")]
    count: int
    success: bool = True


class PromptSent(Response):
    request: int
    requests: Annotated[int, Meta(description="How many requests this turn has sent")]
    body: Annotated[
        Object, Meta(description="The exact request, with notes in place of the bytes of pictures and sounds")
    ]
    moved: Annotated[
        list[str],
        Meta(
            description="Why this prompt does not begin with the one before it, byte for byte: model, tools, "
            "loaded (tools were added to its list), persona, system_prompt, instructions, context, date, results, "
            "trimmed, deleted, pictures. Empty: it does, or it is the first"
        ),
    ] = field(default_factory=list)
    success: bool = True


class WaitQuery(Request):
    wait: Annotated[float, Meta(ge=0, le=300, description="Seconds to wait until it ends or needs a person")] = 0


class PromptQuery(Request):
    request: Annotated[int, Meta(ge=1, le=1000, description="Which request of the turn, from 1")] = 1


class EventsQuery(Request):
    after: Annotated[
        str, Meta(max_length=40, description="As `Last-Event-ID`, for clients that cannot set the header")
    ] = ""


class ChangesQuery(EventsQuery):
    conversation_id: Annotated[
        str, Meta(max_length=200, description="Of this one everything is sent, as its own stream does; empty: of none")
    ] = ""


class Decision(Request):
    """`once` allows this call alone. `conversation` and `always` save a grant, which `covers` this tool, this tool with
    exactly these arguments, or every tool of its server."""

    decision: Literal["allow", "deny"]
    scope: Literal["once", "conversation", "always"] = "once"
    arguments: Annotated[Object, Meta(description="Edited arguments; checked against the tool's schema")] | None = None
    reason: Annotated[str, Meta(max_length=2000, description="Passed to the model")] = ""
    hash: Annotated[str, Meta(max_length=200, description="`hash` of the pending call; another one is a 409")] = ""
    emphatic: Annotated[bool, Meta(description="Accepted and not needed: always means always")] = False
    covers: Annotated[Literal["tool", "arguments", "server"], Meta(description="Default: tool")] | UnsetType = UNSET
    conditions: Annotated[
        dict[str, Annotated[str, Meta(max_length=1000)]],
        Meta(max_length=50, description='Patterns over arguments, such as {"path": "/docs/*"}; only for `tool`'),
    ] = field(default_factory=dict)
    expires_at: Annotated[Time, Meta(description="When the grant ends")] | UnsetType = UNSET


class Resolution(Request):
    as_: Annotated[
        Literal["retry", "done", "skip"], Meta(description="Send it again; it was carried out; leave it unknown")
    ] = field(name="as")


class InputAnswer(Request):
    action: Literal["accept", "decline", "cancel"]
    content: Object | None = None


class Continue(Request):
    rounds: Rounds | None = None


class Retry(Request):
    model: Annotated[str, Meta(max_length=200)] = ""
    web_search: WebSearch = "auto"


class PieceQuery(Request):
    offset: Annotated[int, Meta(ge=0, le=2**40, description="In characters")] = 0
    length: Annotated[int, Meta(ge=1, le=1_000_000)] = 100_000


class ResultPiece(Response):
    id: str
    text: str
    offset: int
    length: int
    size: Annotated[int, Meta(description="Of the whole, in characters")]
    next_offset: int | None
    success: bool = True
