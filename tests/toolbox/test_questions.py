"""Questions of one call, put to a person one after the other."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from windlass.core.errors import Conflict
from windlass.servers import InputReply, Question
from windlass.store import Store
from windlass.toolbox.questions import KeptQuestion, Questions


@pytest_asyncio.fixture
async def questions(tmp_path: Path) -> AsyncIterator[Questions]:
    store = Store(tmp_path / "home", durability="normal")
    yield Questions(store.documents("question", KeptQuestion))
    await store.close()


def asking(questions: Questions, message: str, put: "asyncio.Queue[str]") -> "asyncio.Task[InputReply]":
    return asyncio.create_task(
        questions.ask("call-1", Question(message), "conversation-1", lambda: put.put_nowait(message))
    )


async def test_two_questions_of_one_call_are_put_one_after_the_other(questions: Questions) -> None:
    put = asyncio.Queue[str]()
    first, second = asking(questions, "Who?", put), asking(questions, "How many?", put)
    for task, message in ((first, "Who?"), (second, "How many?")):
        assert await put.get() == message and put.empty()
        assert questions.pending("call-1") == Question(message)
        await questions.answer("call-1", InputReply("accept", {"to": message}))
        assert (await task).content == {"to": message}
    assert questions.pending("call-1") is None
    with pytest.raises(Conflict):
        await questions.answer("call-1", InputReply("accept"))


async def test_a_question_that_is_taken_back_makes_room_for_the_next(questions: Questions) -> None:
    put = asyncio.Queue[str]()
    first, second = asking(questions, "Who?", put), asking(questions, "How many?", put)
    assert await put.get() == "Who?"
    first.cancel()
    assert await put.get() == "How many?"
    await questions.answer("call-1", InputReply("decline"))
    assert (await second).action == "decline"
