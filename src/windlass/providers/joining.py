"""Words that came in one piece are told as one: a burst of tokens costs every listener once, not once a token."""

from windlass.core.ports import Hear, Heard, ReasoningDelta, TextDelta


class Joined:
    """Hears deltas; tells them on at `flush`, or before a delta of another kind."""

    __slots__ = ("_attempt", "_kind", "_tell", "_words")

    def __init__(self, tell: Hear) -> None:
        self._tell = tell
        self._kind: type[TextDelta] | type[ReasoningDelta] = TextDelta
        self._attempt = 0
        self._words: list[str] = []

    def __call__(self, heard: Heard) -> None:
        if not isinstance(heard, TextDelta | ReasoningDelta):
            self.flush()
            self._tell(heard)
            return
        if self._words and type(heard) is not self._kind:
            self.flush()
        self._kind = type(heard)
        self._attempt = heard.attempt
        self._words.append(heard.text)

    def flush(self) -> None:
        if self._words:
            words = "".join(self._words)
            self._words.clear()
            self._tell(self._kind(self._attempt, words))
