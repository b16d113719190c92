"""The prompt as a pure function of the log. Valid by construction: every assistant message with calls is followed by
exactly one tool message per call, whatever happened and wherever the log is cut."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from windlass.core.events import Event
from windlass.core.fold import LIMIT_TEXTS, CallView, TurnView, fold, force
from windlass.core.messages import ChatMessage, PastTurn, SourceLink, ToolCall
from windlass.core.ports import Prompt

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


def prompt_for(log: Sequence[Event], past: tuple[PastTurn, ...]) -> Prompt:
    view = fold(log)
    return prompt_of(view, past, force(view))


def prompt_of(view: TurnView, past: tuple[PastTurn, ...], forced: str) -> Prompt:
    asked, current = view.started.settings, list(_messages(view))
    if forced:
        current.append(ChatMessage("user", LIMIT_TEXTS[forced].answer_now))
    return Prompt(asked.system, past, tuple(current), "none" if forced else "auto" if view.rounds else asked.choice)


def past_turn(turn_id: str, log: Sequence[Event], revision: int = 0) -> PastTurn:
    """A turn as later prompts show it: the same messages, less the model's private reasoning."""
    return PastTurn(turn_id, tuple(replace(message, reasoning="") for message in _messages(fold(log))), revision)


def numbered_sources(view: TurnView) -> list[tuple[SourceLink, str]]:
    """The turn's sources in the order of their numbers, each with the call that gave it ("" for the provider's own)."""
    first: dict[str, tuple[SourceLink, str]] = {}
    for round_ in view.rounds:
        for source in round_.reply.sources:
            first.setdefault(source.url, (source, ""))
        for call in round_.calls:
            for source in call.finished.output.sources if call.finished else ():
                first.setdefault(source.url, (source, call.call.id))
    return list(first.values())


def result_text(call: CallView) -> str:
    """What a person and the model read as the call's result."""
    if call.finished is None:
        return _error("No result was recorded for this call.")
    if call.finished.state == "ok":
        return call.finished.output.text or "(no output)"
    return _error(call.finished.output.text or call.finished.cause)


def _messages(view: TurnView) -> Iterator[ChatMessage]:
    yield from (message for index, message in enumerate(view.started.opening) if index not in view.started.blanked)
    numbers = {source.url: n for n, (source, _) in enumerate(numbered_sources(view), 1)}
    for round_ in view.rounds:
        reply = round_.reply
        if reply.blanked:
            continue
        calls = tuple(_speakable(call.call) for call in round_.calls)
        if calls or reply.text:
            yield ChatMessage("assistant", reply.text or None, calls, reasoning=reply.reasoning)
        for call, speakable in zip(round_.calls, calls, strict=True):
            yield ChatMessage("tool", _numbered_result(call, numbers), call_id=speakable.id, name=speakable.name)
    if view.stop and view.failures and view.failures[-1].partial:
        yield ChatMessage("assistant", view.failures[-1].partial)


def _numbered_result(call: CallView, numbers: dict[str, int]) -> str:
    """The result and what the model should know of it: changed arguments, what may be cited, what is untrusted."""
    text = result_text(call)
    if call.decided and call.decided.arguments:
        text = f"[The person changed the arguments to {call.decided.arguments} before this ran.]\n{text}"
    if call.finished and (call.finished.output.foreign or call.finished.output.untrusted):
        inner = text.replace("</result", "<\\/result")
        text = f'<result tool="{_name(call.call.name)}" trust="untrusted">\n{inner}\n</result>'
    if call.finished and call.finished.output.sources:
        cited = "\n".join(f"[{numbers[s.url]}] {s.title} {s.url}" for s in call.finished.output.sources)
        text = f"{text}\n\nSources, to be cited as [n]:\n{cited}"
    return text


def _speakable(call: ToolCall) -> ToolCall:
    """The call as any provider takes it back; a model may have made up a name that no wire accepts."""
    name = _name(call.name)
    return call if name == call.name else replace(call, name=name)


def _name(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name)[:64] or "unnamed"


def _error(text: str) -> str:
    return json.dumps({"error": text}, ensure_ascii=False)
