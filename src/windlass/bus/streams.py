"""One reader's view of a conversation, or of one turn of it."""

from collections.abc import Callable

from windlass.bus.bus import Frame, Watcher
from windlass.core.events import Recorded, TurnFinished

LastSeq = Callable[[str], int]


class Stream:
    """Frames in order. A turn's stream ends with the turn; a conversation's never does."""

    def __init__(self, watcher: Watcher, last_seq: LastSeq, turn_id: str | None = None, *, ended: bool = False) -> None:
        self._watcher = watcher
        self._last_seq = last_seq
        self._turn_id = turn_id
        self._seqs: dict[str, int] = {}
        self.ended = ended

    async def frames(self) -> list[Frame]:
        """All there is, or wait for more. Tell of each with `passed`, in order."""
        frames = await self._watcher.frames()
        self.ended = self.ended or self._watcher.ended
        return frames

    def at_once(self) -> list[Frame]:
        """What there is already, without waiting."""
        self.ended = self.ended or self._watcher.ended
        return [] if self.ended else self._watcher.at_once()

    def nudge(self) -> None:
        """Let `frames` return now, with nothing if need be."""
        self._watcher.nudge()

    def passed(self, frame: Frame) -> None:
        if not isinstance(frame.what, Recorded):
            return
        if isinstance(frame.what.event, TurnFinished):
            self._seqs.pop(frame.turn_id, None)
            self.ended = self.ended or frame.turn_id == self._turn_id
        else:
            self._seqs[frame.turn_id] = frame.what.seq

    def seq_of(self, turn_id: str) -> int:
        """The last row of the turn before a transient event."""
        if turn_id not in self._seqs:
            self._seqs[turn_id] = self._last_seq(turn_id)
        return self._seqs[turn_id]

    def close(self) -> None:
        self._watcher.close()
