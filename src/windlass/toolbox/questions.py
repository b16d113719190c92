"""Questions that servers ask people in the middle of a call, and the answers on their way back."""

import asyncio
from dataclasses import dataclass, field

from windlass.core.errors import BadInput, Conflict
from windlass.servers import Answer, Question
from windlass.servers.schemas import Checker


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
        if errors := _errors(asked.question, answer):
            raise BadInput(f"content: {'; '.join(errors)}", detail={"path": "content", "errors": errors})
        asked.answer.set_result(answer)


def _errors(question: Question, answer: Answer) -> list[str]:
    if answer.action != "accept" or question.schema is None:
        return []
    try:
        return Checker(question.schema).errors(answer.content or {})
    except BadInput:  # a form that cannot be understood is the server's own to check
        return []
