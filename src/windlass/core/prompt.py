"""The prompt as a pure function of the log. Valid by construction: every assistant message with calls is followed by
exactly one tool message per call, whatever happened and wherever the log is cut."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from windlass.core.events import Event
from windlass.core.fold import LIMIT_TEXTS, CallView, TurnView, fold, force
from windlass.core.messages import NO_RESULT, PYTHON, ChatMessage, PastTurn, SourceLink, ToolCall
from windlass.core.ports import Fence, Prompt

LONGEST_TITLE, LONGEST_URL = 200, 2000
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


def prompt_for(log: Sequence[Event], past: tuple[PastTurn, ...], fence: Fence) -> Prompt:
    view = fold(log)
    return prompt_of(view, past, force(view), fence)


def prompt_of(view: TurnView, past: tuple[PastTurn, ...], forced: str, fence: Fence) -> Prompt:
    asked, current = view.started.settings, list(_messages(view, fence))
    if forced:
        current.append(ChatMessage("user", LIMIT_TEXTS[forced].answer_now))
    return Prompt(asked.system, past, tuple(current), "none" if forced else "auto" if view.rounds else asked.choice)


def past_turn(turn_id: str, log: Sequence[Event], fence: Fence, revision: int = 0) -> PastTurn:
    """A turn as later prompts show it: the same messages, less the model's private reasoning."""
    messages = tuple(replace(message, reasoning="") for message in _messages(fold(log), fence))
    return PastTurn(turn_id, messages, revision)


def messages_after_opening(log: Sequence[Event], fence: Fence) -> tuple[ChatMessage, ...]:
    """A turn's own messages as its next request would hold them."""
    view = fold(log)
    opening = sum(1 for _ in _opening(view, fence))
    return tuple(_messages(view, fence))[opening:]


def searchable_text(log: Sequence[Event]) -> str:
    """What a person may look for in a turn. It has no fence: an excerpt must not give its code away."""
    return "\n".join(message.content for message in _messages(fold(log), None) if message.content)


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
        return NO_RESULT
    if call.finished.state == "ok":
        return call.finished.output.text or "(no output)"
    return _error(call.finished.output.text or call.finished.cause)


def _messages(view: TurnView, fence: Fence | None) -> Iterator[ChatMessage]:
    yield from _opening(view, fence)
    numbers = {source.url: n for n, (source, _) in enumerate(numbered_sources(view), 1)}
    for round_ in view.rounds:
        reply = round_.reply
        if reply.blanked:
            continue
        calls = tuple(_speakable(call.call) for call in round_.calls)
        if calls or reply.text:
            yield ChatMessage("assistant", reply.text or None, calls, reasoning=reply.reasoning)
        for call, speakable in zip(round_.calls, calls, strict=True):
            yield ChatMessage("tool", _numbered_result(call, numbers, fence), call_id=speakable.id, name=speakable.name)
    if view.stop and view.failures and view.failures[-1].partial:
        yield ChatMessage("assistant", view.failures[-1].partial)


def _opening(view: TurnView, fence: Fence | None) -> Iterator[ChatMessage]:
    """Imported results are as foreign as our own; those that an API client sends are its own affair."""
    imported = fence is not None and view.started.origin != "v1"
    for index, message in enumerate(view.started.opening):
        if index in view.started.blanked:
            continue
        if fence and imported and message.role == "tool":
            yield replace(message, content=fence.around(message.call_id, _name(message.name), message.content or ""))
        else:
            yield message


def _numbered_result(call: CallView, numbers: dict[str, int], fence: Fence | None) -> str:
    """The result and what the model should know of it: changed arguments, what may be cited, what is untrusted."""
    text = result_text(call)
    if call.finished and call.finished.output.sources:
        cited = "\n".join(_cited(numbers[source.url], source) for source in call.finished.output.sources)
        text = f"{text}\n\nSources, to be cited as [n]:\n{cited}"
    if fence and _is_foreign(call):
        text = fence.around(call.call.id, _name(call.call.name), text)
    if call.decided and call.decided.arguments:
        text = f"[The person changed the arguments to {call.decided.arguments} before this ran.]\n{text}"
    return text


def _cited(number: int, source: SourceLink) -> str:
    return f"[{number}] {_line(source.title, LONGEST_TITLE)} {_line(source.url, LONGEST_URL)}"


def _line(text: str, longest: int) -> str:
    """On one line: whoever wrote a title or an address may want to begin a line of their own."""
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _is_foreign(call: CallView) -> bool:
    """Whatever a server or a page may have written: results, failures, and complaints that quote a server's schema.
    What the tool claims of itself does not matter; only functions of the embedding program are not fenced."""
    if call.finished is None:
        return False
    output, judged = call.finished.output, call.judged
    if output.foreign or output.untrusted:
        return True
    if judged and judged.server == PYTHON:
        return False
    return call.starts > 0 or (judged is not None and judged.refusal == "bad_arguments")


def _speakable(call: ToolCall) -> ToolCall:
    """The call as any provider takes it back; a model may have made up a name that no wire accepts."""
    name = _name(call.name)
    return call if name == call.name else replace(call, name=name)


def _name(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name)[:64] or "unnamed"


def _error(text: str) -> str:
    return json.dumps({"error": text}, ensure_ascii=False)
