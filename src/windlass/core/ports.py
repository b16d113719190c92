"""What the core needs from outside: a log, a model, tools, a history, a receiver of live events. Adapters live
outside and import this file."""

from asyncio import Future
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol

from windlass.core.events import CallJudged, Event, ModelFailed, Settings
from windlass.core.fold import TurnView
from windlass.core.messages import ChatMessage, Choice, PastTurn, SourceLink, ToolCall, ToolOutput, Toolset, Usage
from windlass.core.values import value_object


class Log(Protocol):
    """One turn's log as its driver holds it.

    `record` and `begin` enqueue before they return; awaiting them only waits, so a cancelled driver loses nothing."""

    turn_id: str

    async def read(self) -> Sequence[Event]: ...

    async def claim(self) -> None:
        """Become the turn's driver: every older claim is fenced from here on."""

    def record(self, *facts: Event) -> Awaitable[object]:
        """Facts land whatever else happened, unless the claim is old (`Fenced`) or the turn has finished (ignored)."""

    def begin(self, seen: int, *intents: Event, facts: Sequence[Event] = ()) -> Awaitable[bool]:
        """Intents land only on the very log they were decided on, behind `facts`; False: nothing but the facts did."""

    async def changed(self, seen: int, also: "Future[Any] | None" = None) -> None:
        """Return once the log is longer than `seen`, or `also` is done."""


@value_object
class Prompt:
    """What a model is asked with. Past turns come apart from the current one, so that encoders may cache them."""

    system: str
    past: tuple[PastTurn, ...]
    current: tuple[ChatMessage, ...]
    choice: Choice = "auto"
    offers: bool = True  # False: no tools go along, and calls of the history stand in it as text


@value_object
class ModelRequest:
    turn_id: str
    settings: Settings
    prompt: Prompt
    tools: Toolset
    attempt: int = 1
    failures: tuple[ModelFailed, ...] = ()  # of the attempts before this one at the same model
    cited: tuple[str, ...] = ()  # addresses that have a number in this turn, in the order of the numbers


@value_object
class DraftCall:
    """A call as it came off the wire, repaired where needed; the engine gives it its id."""

    name: str
    arguments: str = "{}"
    wire_id: str = ""
    raw: str = ""
    broken: str = ""
    repairs: tuple[str, ...] = ()
    extra: str = ""


@value_object
class Reply:
    """A complete reply. Adapters raise `ModelError` for anything less."""

    text: str
    calls: tuple[DraftCall, ...] = ()
    reasoning: str = ""
    usage: Usage = Usage()
    finish: str = "stop"
    model: str = ""
    repairs: tuple[str, ...] = ()
    raw: str = ""
    sources: tuple[SourceLink, ...] = ()
    first_ms: int = 0
    extra: str = ""
    promised: bool = False
    media: str = ""  # how the request showed pictures and sounds, a letter for each


@value_object
class TextDelta:
    attempt: int
    text: str


@value_object
class ReasoningDelta:
    attempt: int
    text: str


@value_object
class CallDelta:
    attempt: int
    index: int
    name: str
    arguments: str


@value_object
class ReplyReset:
    """Discard the previous attempt's output; `attempt` begins."""

    attempt: int


@value_object
class ToolProgress:
    call_id: str
    progress: float
    total: float | None = None
    message: str = ""


@value_object
class InputNeeded:
    """A tool's server asks the person something; the call's time limit is suspended meanwhile."""

    call_id: str
    message: str
    schema: str
    url: str = ""


WaitingFor = Literal["slot", "rate_limit", "first_token", "silence", "server", "tool", "sign_in", "person", "budget"]


@value_object
class Waiting:
    """What the turn waits for, until its next event. `since` and `until` are seconds since 1970; `attempt` is the retry
    that comes next, of `attempts`; `ahead` counts those in front of it."""

    for_: WaitingFor
    since: float
    until: float | None = None
    host: str = ""
    model: str = ""
    server: str = ""
    call_id: str = ""
    attempt: int = 0
    attempts: int = 0
    ahead: int | None = None
    usual_s: float | None = None


@value_object
class ReplySoFar:
    """The reply as far as it has been streamed, for a watcher that joins in the middle of it."""

    attempt: int
    text: str
    reasoning: str
    calls: tuple[CallDelta, ...]


@value_object
class MessagesDeleted:
    """Messages of one turn that were deleted from the log; watchers discard them too."""

    ids: tuple[str, ...]


@value_object
class ResultAdded:
    """A result that was added by hand to a call added before; `part` is its index among the turn's first messages."""

    part: int
    content: str


# Events of a running turn that watchers see as they come, and that are not logged.
LiveEvent = TextDelta | ReasoningDelta | CallDelta | ReplyReset | ToolProgress | InputNeeded | Waiting
Emit = Callable[[LiveEvent], None]  # called on the loop for each of them, in order; must not block


class Model(Protocol):
    async def reply(self, request: ModelRequest, emit: Emit) -> Reply: ...


class Tools(Protocol):
    """The tools of one turn, frozen when it started."""

    toolset: Toolset

    def listed(self, view: TurnView) -> Toolset:
        """What of it the next request lists: at first what the settings name, then also what was loaded."""

    def judge(self, call: ToolCall, log: Sequence[Event]) -> CallJudged:
        """Whether the call may run: at once, after a person's approval, or not at all."""

    async def completed(self, view: TurnView, replying: Awaitable[Reply], forced: str) -> Reply:
        """The reply with what the turn still needs of it, such as a search that the model did not make."""

    async def run(self, call: ToolCall, emit: Emit) -> ToolOutput:
        """Return the result or raise `ToolError`; must be safe to cancel."""

    def alarm(self, limit_s: float, sound: Callable[[], object]) -> Callable[[], None]:
        """Call `sound` when the turn has worked for `limit_s`, waits for people not counted. Returns a cancel."""


class Fence(Protocol):
    def around(self, call_id: str, tool: str, text: str) -> str:
        """Foreign text, marked as such: the same for the same call, in a way that its author cannot imitate."""

    def tags(self, call_id: str, tool: str) -> tuple[str, str]: ...  # what stands before and behind it


class History(Protocol):
    """The finished turns on the path to this one. `fence` goes around the results of these and of the current one."""

    @property
    def fence(self) -> Fence: ...

    async def before(self, turn_id: str, history_from: str) -> tuple[PastTurn, ...]: ...

    async def shorten(self, turn_id: str, log: Sequence[Event]) -> str | None:
        """After a context overflow: a later turn to start the history from, or None when nothing is left to cut."""
