"""Questions that tools ask people in the middle of a call, the answers on their way back, and the clock of a turn's
work, which stands still meanwhile."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from windlass.core.errors import BadInput, Conflict
from windlass.core.ports import InputNeeded
from windlass.core.values import value_object
from windlass.servers import Answered, InputReply, Question
from windlass.store import Documents
from windlass.toolbox.schemas import Checker

LEAST_S = 0.05  # between two looks at the clock


@value_object
class KeptQuestion:
    call_id: str
    conversation_id: str
    question: Question
    answer: InputReply | None = None

    @property
    def turn_id(self) -> str:
        return turn_of(self.call_id)


@dataclass(slots=True)
class OpenQuestion:
    question: Question
    answer: "asyncio.Future[InputReply]" = field(repr=False)


def turn_of(call_id: str) -> str:
    """A call's id holds its turn's."""
    return "turn-" + call_id.removeprefix("call_").partition("_")[0]


def input_needed(call_id: str, question: Question) -> InputNeeded:
    """The question as an event for the turn's subscribers."""
    return InputNeeded(call_id, question.message, json.dumps(question.schema or {}), question.url)


class Questions:
    """A question lives as long as the call that asked it. In the stateless era the server does not wait for the answer,
    so there a question is saved, and its call is repeated with the answer after a restart."""

    def __init__(self, kept: Documents[KeptQuestion]) -> None:
        self._kept = kept
        self.saved = {one.call_id: one for one in kept.everything()}  # saved before this start
        self._asked: dict[str, OpenQuestion] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def ask(self, call_id: str, question: Question, conversation_id: str, put: Callable[[], None]) -> InputReply:
        """`put` shows it to people. A call may ask several questions at once; they are put one after the other."""
        turn = self._turns.setdefault(call_id, asyncio.Lock())
        async with turn:
            return await self._ask(call_id, question, conversation_id, put)

    async def _ask(self, call_id: str, question: Question, conversation_id: str, put: Callable[[], None]) -> InputReply:
        asked = OpenQuestion(question, asyncio.get_running_loop().create_future())
        self._asked[call_id] = asked
        put()
        try:
            if question.request:
                kept = KeptQuestion(call_id, conversation_id, question)
                await self._kept.put(call_id, kept, parent=conversation_id)
            answer = await asked.answer
            if question.request:  # once it is sent on, a restart must not repeat the call: its outcome is unknown
                await self._kept.delete(call_id)
            return answer
        finally:
            self._asked.pop(call_id, None)

    def left(self) -> Sequence[KeptQuestion]:
        """Saved questions from before this start that nobody has answered yet."""
        return [one for one in self.saved.values() if one.answer is None]

    def pending(self, call_id: str) -> Question | None:
        if asked := self._asked.get(call_id):
            return None if asked.answer.done() else asked.question
        left = self.saved.get(call_id)
        return left.question if left and left.answer is None else None

    def by_turn(self) -> Counter[str]:
        """How many calls of each turn wait for an answer; of turns that have ended since, too."""
        return Counter(turn_of(call_id) for call_id in {*self.saved, *self._asked} if self.pending(call_id))

    async def answer(self, call_id: str, answer: InputReply) -> bool:
        """Whether the call still runs; if not, it must be started again to use this answer."""
        asked, question = self._asked.get(call_id), self.pending(call_id)
        if question is None:
            raise Conflict(
                "This call has no open question.",
                hint="GET /turns/{id} shows what the turn waits for.",
                code="not_waiting",
            )
        if errors := _errors(question, answer):
            raise BadInput(f"content: {'; '.join(errors)}", detail={"path": "content", "errors": errors})
        if asked:
            asked.answer.set_result(answer)
        else:
            left = self.saved[call_id] = replace(self.saved[call_id], answer=answer)
            await self._kept.put(call_id, left, parent=left.conversation_id)
        return asked is not None

    async def take(self, call_id: str) -> Answered | None:
        """The answer to a question that was asked before a restart, once."""
        left = self.saved.pop(call_id, None)
        if left is None:
            return None
        await self._kept.delete(call_id)
        return Answered(left.question, left.answer) if left.answer else None


def _errors(question: Question, answer: InputReply) -> list[str]:
    if answer.action != "accept" or question.schema is None:
        return []
    try:
        return Checker(question.schema).errors(answer.content or {})
    except BadInput:  # a schema that cannot be used is left to the server to check
        return []


class WorkClock:
    """How long a turn has worked. While everything that runs waits for a person's answer, its time stands still."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}  # the calls that run, and how many questions of each are open
        self._stood_s = 0.0
        self._stands_since: float | None = None

    def alarm(self, limit_s: float, sound: Callable[[], object]) -> Callable[[], None]:
        """Call `sound` after so much work from now on. Returns what cancels it."""
        return _Alarm(self, self.worked_s + limit_s, sound).cancel

    @property
    def worked_s(self) -> float:
        """Since some moment in the past."""
        return time.monotonic() - self._stood()

    def begun(self, call_id: str) -> None:
        self._open[call_id] = 0
        self._look()

    def over(self, call_id: str) -> None:
        del self._open[call_id]
        self._look()

    @contextmanager
    def asking(self, call_id: str) -> Iterator[None]:
        self._open[call_id] += 1
        self._look()
        try:
            yield
        finally:
            if call_id in self._open:
                self._open[call_id] -= 1
                self._look()

    def _look(self) -> None:
        stands = bool(self._open) and all(self._open.values())
        if stands and self._stands_since is None:
            self._stands_since = time.monotonic()
        elif not stands and self._stands_since is not None:
            self._stood_s = self._stood()
            self._stands_since = None

    def _stood(self) -> float:
        return self._stood_s + (time.monotonic() - self._stands_since if self._stands_since is not None else 0.0)


class _Alarm:
    def __init__(self, clock: WorkClock, due_s: float, sound: Callable[[], object]) -> None:
        self._clock = clock
        self._due_s = due_s
        self._sound = sound
        self._look()

    def cancel(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        left_s = self._due_s - self._clock.worked_s
        loop = asyncio.get_running_loop()
        if left_s > 0:  # still so much while the clock is stopped
            self._timer = loop.call_later(max(left_s, LEAST_S), self._look)
        else:
            self._timer = loop.call_later(0, self._sound)
