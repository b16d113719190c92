"""The prompt as a pure function of the log. Valid by construction: every assistant message with calls is followed by
exactly one tool message per call, whatever happened and wherever the log is cut."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from windlass.core.events import Event, Settings
from windlass.core.fold import LIMIT_TEXTS, CallView, TurnView, fold, force, is_bare
from windlass.core.messages import NO_RESULT, PYTHON, ChatMessage, MediaRef, PastTurn, SentPrompt, SourceLink, ToolCall
from windlass.core.ports import Fence, Prompt

LONGEST_TITLE, LONGEST_URL = 200, 2000
KEEP_PROMISE = "You announced a search but made no call. Make the call now, or answer with what was found."
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


def prompt_for(log: Sequence[Event], past: tuple[PastTurn, ...], fence: Fence) -> Prompt:
    view = fold(log)
    return prompt_of(view, past, force(view), fence)


def prompt_of(view: TurnView, past: tuple[PastTurn, ...], forced: str, fence: Fence) -> Prompt:
    asked, current = view.started.settings, list(_messages(view, fence))
    if forced:
        current.append(_answer_now(forced))
    if is_bare(view):
        earlier = [message for turn in past for message in turn.messages]
        return Prompt(asked.system, (), tuple(without_calls((*earlier, *current))), "none", offers=False)
    return Prompt(asked.system, past, tuple(current), "none" if forced else "auto" if view.rounds else asked.choice)


def past_turn(turn_id: str, log: Sequence[Event], fence: Fence, revision: int = 0) -> PastTurn:
    """A turn as later prompts show it: what its own requests showed, and its answer, which leaves its reasoning."""
    view = fold(log)
    messages = tuple(
        replace(message, reasoning="") if message.reasoning and not message.calls else message
        for message in _messages(view, fence)
    )
    media = tuple(part for message in messages for part in message.parts if isinstance(part, MediaRef))
    return PastTurn(turn_id, messages, revision, view.asked.provider, _sent(view), media)


def _sent(view: TurnView) -> SentPrompt | None:
    last = view.rounds[-1] if view.rounds else None
    if last is None or not last.reply.history:
        return None
    parts = _parts(last.asked, "" if last.bare else last.reply.listed or last.asked.toolset)
    return SentPrompt(parts, view.history_from, last.reply.history, last.reply.media)


def _parts(settings: Settings, tools: str) -> tuple[str, ...]:
    return f"model:{settings.provider}/{settings.model}", f"tools:{tools}", *settings.system_parts


def history_digest(past: Iterable[PastTurn]) -> str:
    shown = "\n".join(f"{turn.turn_id} {turn.revision}" for turn in past)
    return hashlib.blake2b(shown.encode(), digest_size=8).hexdigest()


def why_moved(view: TurnView, past: Sequence[PastTurn], listed: str = "", media: str = "") -> tuple[str, ...]:
    """Why this request does not begin with the one before it, byte for byte; nothing where it does, or is the first.
    Providers keep what they computed for a prompt and charge less for the same beginning. `listed`: its tools' hash."""
    tools = listed or view.asked.toolset
    if view.rounds:
        last = view.rounds[-1]
        moved = {
            "model": _parts(last.asked, "") != _parts(view.asked, ""),
            "tools": is_bare(view),
            "loaded": tools != (last.reply.listed or last.asked.toolset),
            "trimmed": last.reply.history not in ("", history_digest(past)),  # "": of the first edition
        }
        causes, shown = [cause for cause, true in moved.items() if true], last.reply.media
        return tuple(causes) or ("pictures",) * (not media.startswith(shown))
    at = next((index for index in range(len(past) - 1, -1, -1) if past[index].sent), -1)
    before = past[at].sent if past else None
    if before is None:
        return ("trimmed",) if view.history_from else ()
    causes = sorted({part.partition(":")[0] for part in {*before.parts} ^ {*_parts(view.asked, tools)}})
    if history_digest(past[:at]) != before.history:
        causes.append("trimmed" if view.history_from != before.history_from else "deleted")
    elif past[at].revision:
        causes.append("deleted")
    return tuple(causes) or ("pictures",) * (not media.startswith(before.media))


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
    return json.dumps({"error": call.finished.output.text or call.finished.cause}, ensure_ascii=False)


def _messages(view: TurnView, fence: Fence | None) -> Iterator[ChatMessage]:
    yield from _opening(view, fence)
    numbers = {source.url: n for n, (source, _) in enumerate(numbered_sources(view), 1)}
    for round_ in view.rounds:
        reply = round_.reply
        if reply.blanked:
            continue
        if fence and round_.forced:
            yield _answer_now(round_.forced)
        calls = tuple(_speakable(call.call) for call in round_.calls)
        if calls or reply.text:
            own = round_.asked.provider == view.asked.provider  # thoughts are for the provider that had them
            yield ChatMessage("assistant", reply.text or None, calls, reasoning=reply.reasoning if own else "")
        for call, speakable in zip(round_.calls, calls, strict=True):
            text, name = _numbered_result(call, numbers, fence), speakable.name
            yield ChatMessage("tool", text, call_id=speakable.id, name=name, parts=_media(call, name, fence))
        if reply.promised and fence:
            yield ChatMessage("user", KEEP_PROMISE)
    if view.stop and view.failures and view.failures[-1].partial:
        yield ChatMessage("assistant", view.failures[-1].partial)


def _opening(view: TurnView, fence: Fence | None) -> Iterator[ChatMessage]:
    """Imported results are as foreign as our own; those that an API client sends are its own affair."""
    imported = fence is not None and view.started.origin != "v1"
    note, last = view.started.settings.note if fence else "", len(view.started.opening) - 1
    for index, message in enumerate(view.started.opening):
        if index in view.started.blanked:
            continue
        if fence and message.attached:
            texts = [fence.around(a.id, f"resource_of_{a.server}", f"{a.uri}\n{a.text}") for a in message.attached]
            message = _with_text(replace(message, attached=()), *texts)
        if note and index == last and message.role == "user":
            message = _with_text(message, note)
        if fence and imported and message.role == "tool":
            yield replace(message, content=fence.around(message.call_id, _name(message.name), message.content or ""))
        else:
            yield message


def _with_text(message: ChatMessage, *texts: str) -> ChatMessage:
    parts = (*message.parts, *texts) if message.parts else ()
    return replace(message, content="\n\n".join((message.content or "", *texts)), parts=parts)


def _answer_now(limit: str) -> ChatMessage:
    return ChatMessage("user", LIMIT_TEXTS[limit].answer_now)


def without_calls(messages: Iterable[ChatMessage]) -> Iterator[ChatMessage]:
    """The same as plain talk: models that see calls go on calling, and some servers refuse calls without tools."""
    results: list[ChatMessage] = []
    for message in messages:
        if message.role == "tool":
            text = f"Result of {message.name}:\n{message.content}"
            results.append(ChatMessage("user", text, parts=(text, *message.parts) if message.parts else ()))
            continue
        if results and message.role != "user":
            yield _joined(results)
        elif results:
            message = _joined([*results, message])
        results = []
        called = (f"[Called {call.name} with {call.arguments}]" for call in message.calls)
        text = "\n\n".join(filter(None, (message.content, *called)))
        yield ChatMessage(message.role, text, name=message.name, parts=message.parts)


def _joined(messages: Sequence[ChatMessage]) -> ChatMessage:
    mixed = any(message.parts for message in messages)
    parts = tuple(part for one in messages for part in one.parts or (one.content or "",)) if mixed else ()
    return replace(messages[-1], content="\n\n".join(one.content or "" for one in messages), parts=parts)


def _media(call: CallView, name: str, fence: Fence | None) -> tuple[str | MediaRef, ...]:
    output = call.finished.output if call.finished else None
    if fence is None or output is None or not output.result_id:
        return ()
    found = [MediaRef(output.result_id, f.at, f.true_mime, f.size) for f in output.files if f.true_mime]
    opening, closing = fence.tags(call.call.id, name)
    return (opening, *found, closing) if found else ()


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
