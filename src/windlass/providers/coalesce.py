"""Words that came in one piece are told as one: a burst of tokens costs every listener once, not once a token."""

from windlass.core.ports import CallDelta, Emit, ReasoningDelta, TextDelta


class Joined:
    """Words wait until `flush`, or until something of another kind is said."""

    __slots__ = ("_attempt", "_kind", "_tell", "_words")

    def __init__(self, tell: Emit, attempt: int = 1) -> None:
        self._tell = tell
        self._attempt = attempt
        self._kind: type[TextDelta] | type[ReasoningDelta] = TextDelta
        self._words: list[str] = []

    def say(self, text: str) -> None:
        if self._kind is not TextDelta:
            self.flush()
            self._kind = TextDelta
        self._words.append(text)

    def think(self, text: str) -> None:
        if self._kind is not ReasoningDelta:
            self.flush()
            self._kind = ReasoningDelta
        self._words.append(text)

    def call(self, place: int, name: str, piece: str) -> None:
        self.flush()
        self._tell(CallDelta(self._attempt, place, name, piece))

    def flush(self) -> None:
        if self._words:
            words = "".join(self._words)
            self._words.clear()
            self._tell(self._kind(self._attempt, words))
