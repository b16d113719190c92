"""Pictures and sounds in requests: which of them a request shows, and in which words it names the others.

A prompt holds references alone. What becomes of each is a letter: `SHOWN`, or why not. The letters of a request are
recorded with its reply, so that the log can say why a prompt moved. Bytes are read when a request is encoded."""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

from windlass.core.messages import ChatMessage, MediaRef
from windlass.core.ports import ModelRequest, Prompt
from windlass.core.values import value_object
from windlass.providers.byte_cache import ByteCache
from windlass.providers.media_types import is_image, size_text
from windlass.providers.refusals import Refusals

CACHE_BYTES = 32 * 1024 * 1024
LONG = 256 * 1024  # more is encoded and copied in a thread
SHOWN, NOT_TAKEN, REFUSED, TOO_LARGE, OLDER, GONE = "s", "x", "r", "l", "o", "g"
_TO_PERSON = "; it is shown to the person"
_WHY = {
    NOT_TAKEN: "{model} does not take {kinds}" + _TO_PERSON,
    REFUSED: "the provider of {model} refused it" + _TO_PERSON,
    TOO_LARGE: "too large for a request" + _TO_PERSON,
    OLDER: "left out in favour of newer ones" + _TO_PERSON,
    GONE: "it is no longer kept",
}

Read = Callable[[MediaRef], Awaitable[bytes | None]]  # None where nothing such is kept any more


@value_object
class Abilities:
    """What a model takes; None: not known."""

    images: bool | None = None
    audio: bool | None = None

    def takes(self, mime: str) -> bool:
        """Whether it is tried. Most models that nobody knows see, or refuse a picture with a clear error; few hear, and
        one that ignores what it cannot hear makes up an answer."""
        return self.images is not False if is_image(mime) else self.audio is True


@value_object
class MediaBudget:
    """Of one request. Older pictures and sounds beyond it are named in words."""

    most: int = 20
    each_bytes: int = 5 << 20
    all_bytes: int = 20 << 20


@value_object
class RequestMedia:
    """What becomes of each picture and sound of a request, in their order. `data`: in base64."""

    model: str = ""
    letters: Mapping[MediaRef, str] = field(default_factory=lambda: MappingProxyType({}))
    data: Mapping[MediaRef, bytes] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def signature(self) -> str:
        return "".join(self.letters.values())

    @property
    def shown(self) -> frozenset[MediaRef]:
        return frozenset(ref for ref, letter in self.letters.items() if letter == SHOWN)

    @property
    def size(self) -> int:
        return sum(map(len, self.data.values()))

    def shows(self, ref: MediaRef) -> bool:
        return self.letters.get(ref) == SHOWN

    def words(self, ref: MediaRef, number: int = 0) -> str:
        """`number`: of those in the same message, where there are several."""
        kind = "image" if is_image(ref.mime) else "audio"
        why = _WHY.get(self.letters.get(ref, ""), "")
        why = why.format(model=self.model or "the model", kinds="pictures" if kind == "image" else "sound")
        return f"[{kind}{f' {number}' if number else ''}, {ref.mime}, {size_text(ref.size)}{why and ': '}{why}]"


NO_MEDIA = RequestMedia()


class Media:
    """The pictures and sounds of one provider's requests."""

    def __init__(self, kept: "KeptMedia", abilities: Callable[[str], Abilities]) -> None:
        self.refusals = Refusals()
        self._kept = kept
        self._abilities = abilities

    async def shown_in(self, prompt: Prompt, model: str) -> RequestMedia:
        refs = tuple(media_of(prompt))
        if not refs:
            return NO_MEDIA
        letters = chosen(refs, self._abilities(model), self.refusals.of(model), self._kept.budget)
        data: dict[MediaRef, bytes] = {}
        for ref in [ref for ref, letter in letters.items() if letter == SHOWN]:
            held = await self._kept.base64_of(ref)
            if held is None:
                letters[ref] = GONE
            else:
                data[ref] = held
        return RequestMedia(model, letters, data)


class KeptMedia:
    """Bytes by reference, of all providers: those of a chat are wanted again with each request."""

    def __init__(self, read: Read, budget: MediaBudget = MediaBudget()) -> None:  # noqa: B008 - a value
        self.budget = budget
        self._read = read
        self._cache = ByteCache(CACHE_BYTES)

    async def base64_of(self, ref: MediaRef) -> bytes | None:
        key = (ref.source, ref.at)
        if (held := self._cache.get(key)) is not None:
            return held
        if (data := await self._read(ref)) is None:
            return None
        encoded = b64encode(data) if len(data) <= LONG else await asyncio.to_thread(b64encode, data)
        return self._cache.keep(key, encoded)


def media_of(prompt: Prompt) -> Iterator[MediaRef]:
    """In the order of the prompt."""
    for turn in prompt.past:
        if turn.media:
            yield from turn.media
    for message in prompt.current:
        if message.parts:
            yield from media_in(message)


def media_in(message: ChatMessage) -> Iterator[MediaRef]:
    return (part for part in message.parts if isinstance(part, MediaRef))


def described(media: RequestMedia, request: ModelRequest, recorded: str) -> RequestMedia:
    """For people: as the request was sent, where its letters are `recorded`, and with notes in place of bytes."""
    refs = tuple(dict.fromkeys(media_of(request.prompt)))
    letters = dict(zip(refs, recorded, strict=True)) if len(recorded) == len(refs) else media.letters
    notes = {ref: f"({size_text(ref.size)}, part {ref.at} of {ref.source})".encode() for ref in refs}
    return RequestMedia(media.model or request.settings.model, letters, notes)


def chosen(
    refs: Sequence[MediaRef], abilities: Abilities, refusals: Callable[[MediaRef], str], budget: MediaBudget
) -> dict[MediaRef, str]:
    """The letter of each. When the budget is exceeded the oldest are left out until half of it is free again: so what a
    request shows of the ones before changes once in a while, not with each picture."""
    letters: dict[MediaRef, str] = {}
    window: list[MediaRef] = []
    size = 0
    for ref in refs:
        if ref in letters:
            continue
        letters[ref] = _alone(ref, abilities, refusals, budget)
        if letters[ref] != SHOWN:
            continue
        window.append(ref)
        size += ref.size
        if len(window) <= budget.most and size <= budget.all_bytes:
            continue
        while window and (len(window) > max(1, budget.most // 2) or size > max(ref.size, budget.all_bytes // 2)):
            oldest = window.pop(0)
            size -= oldest.size
            letters[oldest] = OLDER
    return letters


def _alone(ref: MediaRef, abilities: Abilities, refusals: Callable[[MediaRef], str], budget: MediaBudget) -> str:
    if not abilities.takes(ref.mime):
        return NOT_TAKEN
    if refused := refusals(ref):
        return refused
    return TOO_LARGE if not budget.most or ref.size > min(budget.each_bytes, budget.all_bytes) else SHOWN
