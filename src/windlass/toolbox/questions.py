"""Questions that servers ask people in the middle of a call, and the answers on their way back."""

import asyncio
from dataclasses import dataclass, field

from windlass.core.errors import Conflict
from windlass.servers import Answer, Question


@dataclass(slots=True)
class Asked:
    call_id: str
    question: Question
    answer: "asyncio.Future[Answer]" = field(repr=False)


class Questions:
    """They live as long as the call that asked: a restart ends both."""

    def __init__(self) -> None:
        self._asked: dict[str, Asked] = {}

    async def ask(self, call_id: str, question: Question) -> Answer:
        asked = Asked(call_id, question, asyncio.get_running_loop().create_future())
        self._asked[call_id] = asked
        try:
            return await asked.answer
        finally:
            self._asked.pop(call_id, None)

    def pending(self, call_id: str) -> Question | None:
        asked = self._asked.get(call_id)
        return asked.question if asked else None

    def answer(self, call_id: str, answer: Answer) -> None:
        asked = self._asked.get(call_id)
        if asked is None or asked.answer.done():
            raise Conflict("This call asks nothing at the moment.", code="not_waiting")
        asked.answer.set_result(answer)
