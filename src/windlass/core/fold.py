"""A turn as its log leaves it: one pass over the events, no judgement. `steps` and `prompt` both read this."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from windlass.core.events import (
    CallDecided,
    CallJudged,
    CallResolved,
    Event,
    HistoryTrimmed,
    ModelFailed,
    ModelReplied,
    OfCall,
    Settings,
    StopRequested,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnFinished,
    TurnStarted,
)
from windlass.core.messages import ToolCall, Usage

FEWER_ATTEMPTS = {"empty_reply": 2, "context_overflow": 2}  # a retry rarely helps; a trimmed history is worth one
FAILS_ANYWHERE = {"bad_request", "context_overflow", "content_filter", "bad_output", "stopped"}  # no fallback helps
PROMISES = 2  # replies that only announce a search; after so many the model must answer


@dataclass(slots=True)
class CallView:
    call: ToolCall
    judged: CallJudged | None = None
    decided: CallDecided | None = None
    resolved: str = ""
    starts: int = 0
    running: bool = False
    interrupted: bool = False
    stopped: bool = False
    finished: ToolFinished | None = None

    @property
    def open(self) -> bool:
        return self.finished is None

    @property
    def safe(self) -> bool:
        return self.judged is not None and self.judged.safe

    @property
    def harmless(self) -> bool:
        """Whether nothing can have happened, however it ended: it reads, or may be repeated."""
        return self.judged is not None and (self.judged.reads or self.judged.safe)

    @property
    def handed_over(self) -> bool:
        """Whether it is of a tool that the API's caller runs."""
        return self.judged is not None and self.judged.refusal == "handed_over"

    @property
    def sent(self) -> bool:
        return self.running or self.interrupted

    @property
    def allowed(self) -> bool:
        if self.judged is None or self.judged.verdict == "refuse":
            return False
        return self.judged.verdict == "auto" or (self.decided is not None and self.decided.allow)


@dataclass(slots=True)
class Round:
    """One complete reply and its calls. `forced` names why tools were already off when it was asked for; `bare`: none
    were offered, since the reply before called some all the same."""

    reply: ModelReplied
    calls: list[CallView]
    forced: str = ""
    bare: bool = False
    asked: Settings = Settings()  # with the model in force


@dataclass(slots=True)
class TurnView:
    started: TurnStarted
    rounds: list[Round] = field(default_factory=list)
    by_call: dict[str, CallView] = field(default_factory=dict)
    driver: str | None = None  # of the last claim
    claims: int = 0  # since the last progress, each by another driver: one that claims again has not crashed
    failures: list[ModelFailed] = field(default_factory=list)  # since the last progress
    gave_up: list[ModelFailed] = field(default_factory=list)  # the last failure of each model that has a fallback
    tries_from: int = 0  # index of the first failure of the model in force
    stop: StopRequested | None = None
    history_from: str = ""
    finished: TurnFinished | None = None

    @property
    def calls(self) -> Iterator[CallView]:
        return iter(self.by_call.values())

    @property
    def asked(self) -> Settings:
        """The turn's settings with the model in force: the first, or a fallback after those before it gave up."""
        settings = self.started.settings
        provider, model = ((settings.provider, settings.model), *settings.fallback)[len(self.gave_up)]
        return replace(settings, provider=provider, model=model) if self.gave_up else settings

    @property
    def usage(self) -> Usage:
        prompt = completion = cached = reasoning = 0
        for round_ in self.rounds:
            used = round_.reply.usage
            prompt, completion = prompt + used.prompt, completion + used.completion
            cached, reasoning = cached + used.cached, reasoning + used.reasoning
        return Usage(prompt, completion, cached, reasoning)


def fold(log: Sequence[Event]) -> TurnView:
    return Folding().upto(log)


class Folding:
    """The view of a growing log, each event looked at once. A log that went on otherwise is read from its start."""

    def __init__(self) -> None:
        self._view: TurnView | None = None
        self._log: Sequence[Event] = ()

    def upto(self, log: Sequence[Event]) -> TurnView:
        known = len(self._log)
        if self._view is None or len(log) < known or log[known - 1] is not self._log[-1]:
            self._view, known = _begun(log[0]), 1
        for event in log[known:]:
            _apply(self._view, event)
        self._log = log
        return self._view


def _begun(started: Event) -> TurnView:
    if not isinstance(started, TurnStarted):
        raise ValueError("a turn's log begins with TurnStarted")
    return TurnView(started, history_from=started.settings.history_from)


def _apply(view: TurnView, event: Event) -> None:
    match event:
        case TurnClaimed():
            view.claims, view.driver = view.claims + (event.driver != view.driver), event.driver
            for begun in view.calls:
                begun.interrupted |= begun.running
                begun.running = False
        case ModelReplied():
            _progress(view)
            calls = [CallView(call) for call in event.calls]
            view.rounds.append(Round(event, calls, force(view), is_bare(view), view.asked))
            view.by_call.update((call.call.id, call) for call in calls)
        case ModelFailed():
            _failed(view, event)
        case HistoryTrimmed():
            view.history_from = event.history_from
        case StopRequested(call_id=""):
            view.stop = event
        case TurnFinished():
            view.finished = event
        case TurnStarted():
            raise ValueError("a turn starts once")
        case _:
            if call := view.by_call.get(event.call_id):
                _apply_to_call(view, call, event)


def _apply_to_call(view: TurnView, call: CallView, event: OfCall) -> None:
    match event:
        case CallJudged():
            call.judged = event
        case CallDecided():
            _progress(view)
            if call.judged and call.judged.verdict == "ask" and not call.starts:
                call.decided = call.decided or event
        case CallResolved():
            _progress(view)
            if call.interrupted:
                call.resolved = event.how
        case ToolStarted():
            call.starts += 1
            call.running, call.interrupted, call.resolved = True, False, ""
        case ToolFinished():
            _progress(view)
            call.finished = event
            call.running = False
        case _:
            call.stopped = True


def _progress(view: TurnView) -> None:
    view.claims = 0
    view.failures.clear()
    view.tries_from = 0


def _failed(view: TurnView, event: ModelFailed) -> None:
    view.claims = 0
    view.failures.append(event)
    more = len(view.gave_up) < len(view.started.settings.fallback) and event.cause not in FAILS_ANYWHERE
    if more and not worth_another(view):
        view.gave_up.append(event)
        view.tries_from = len(view.failures)


def worth_another(view: TurnView) -> bool:
    tries, attempts = view.failures[view.tries_from :], view.started.settings.limits.attempts
    last = tries[-1]
    same = sum(failure.cause == last.cause for failure in tries)
    return last.retryable and len(tries) < attempts and same < FEWER_ATTEMPTS.get(last.cause, attempts)


def force(view: TurnView) -> str:
    """Why the next request must ask for the answer without tools, or "" when it need not. Each reason has its texts in
    `LIMIT_TEXTS`."""
    limits = view.started.settings.limits
    if view.rounds and view.rounds[-1].forced:
        return view.rounds[-1].forced
    if limits.rounds > 1 and len([round_ for round_ in view.rounds if round_.calls]) >= limits.rounds:
        return "rounds"
    if len(view.by_call) >= limits.calls:
        return "calls"
    if limits.tokens is not None and view.usage.prompt + view.usage.completion >= limits.tokens:
        return "tokens"
    if len(view.rounds) >= limits.repeats and _same_again(view) >= limits.repeats:
        return "repeats"
    if len(view.rounds) >= limits.bad_tries and _bad_tries(view) >= limits.bad_tries:
        return "bad_arguments"
    if sum(round_.reply.promised for round_ in view.rounds) >= PROMISES:
        return "promises"
    return ""


def is_bare(view: TurnView) -> bool:
    """Whether the next request goes without tools: the answer was asked for, and calls came instead."""
    return bool(view.rounds and view.rounds[-1].forced and view.rounds[-1].calls)


def _same_again(view: TurnView) -> int:
    """In how many replies the last finished call gave the very same result to the very same arguments.

    The calls of one reply are made before any of them has a result, so they count once."""
    seen = [
        (number, (call.call.name, call.call.arguments, call.finished.output.digest))
        for number, round_ in enumerate(view.rounds)
        for call in round_.calls
        if call.finished and call.finished.state == "ok" and call.finished.output.digest
    ]
    return len({number for number, key in seen if key == seen[-1][1]})


def _bad_tries(view: TurnView) -> int:
    """In how many of the last replies one tool, and no other, was called with arguments it cannot take."""
    name, tries = "", set[int]()
    for number, round_ in enumerate(view.rounds):
        for call in round_.calls:
            if call.judged is None or call.judged.refusal != "bad_arguments":
                name, tries = "", set()
            elif call.call.name == name:
                tries.add(number)
            else:
                name, tries = call.call.name, {number}
    return len(tries)


class LimitText(NamedTuple):
    """`answer_now` asks the model for its answer, `ended` says to the person why the turn ended, `unanswered` the same
    where the model would not answer."""

    answer_now: str
    ended: str

    @property
    def unanswered(self) -> str:
        return f"{self.ended.partition('. ')[0].rstrip('.')}. The model asked for more calls instead of answering."


LIMIT_TEXTS = {
    "rounds": LimitText(
        "No more tool rounds are left in this turn. Answer now with what you have found; say what is missing.",
        "Stopped at the limit of tool rounds. The answer uses what was found so far.",
    ),
    "calls": LimitText(
        "No more tool calls are left in this turn. Answer now with what you have found; say what is missing.",
        "Stopped at the limit of tool calls. The answer uses what was found so far.",
    ),
    "tokens": LimitText(
        "The token budget of this turn is used up. Answer now, briefly, with what you have found.",
        "Stopped at the token budget. The answer uses what was found so far.",
    ),
    "repeats": LimitText(
        "This call gives the same result each time. Do not call it again; answer now with what you have found.",
        "Stopped because the same call kept giving the same result.",
    ),
    "bad_arguments": LimitText(
        "The last calls were not run: their arguments do not fit the tool. Answer now without that tool.",
        "Stopped after consecutive calls whose arguments do not match the tool's schema.",
    ),
    "promises": LimitText(
        "No more searches are made in this turn. Answer now with what was found; say what is missing.",
        "The model announced a search again and again without making it.",
    ),
    "length": LimitText("", "The reply was cut at the model's output limit."),
}
