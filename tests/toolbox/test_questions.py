"""Questions of one call, put to a person one after the other; and a turn's time against people's time, told by the
order in which clocks run out, not by how long anything took."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from windlass.core.errors import Conflict
from windlass.servers import InputReply, Question
from windlass.store import Store
from windlass.toolbox.questions import KeptQuestion, Questions, WorkClock


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


def rings(clock: WorkClock, limit_s: float) -> asyncio.Event:
    rung = asyncio.Event()
    clock.alarm(limit_s, rung.set)
    return rung


async def test_time_runs_out_while_the_turn_works() -> None:
    clock = WorkClock()
    clock.begun("a")
    assert await rings(clock, 0.01).wait()


async def test_time_stands_still_while_all_that_runs_waits_for_a_person() -> None:
    clock, other = WorkClock(), WorkClock()
    clock.begun("a")
    with clock.asking("a"), clock.asking("a"):
        short = rings(clock, 0.01)
        await rings(other, 0.05).wait()
        assert not short.is_set()
    assert await short.wait()


async def test_time_goes_on_while_another_call_works() -> None:
    clock = WorkClock()
    clock.begun("a")
    with clock.asking("a"):
        clock.begun("b")
        assert await rings(clock, 0.01).wait()


async def test_time_stands_still_again_when_the_other_call_is_over() -> None:
    clock, other = WorkClock(), WorkClock()
    clock.begun("a")
    clock.begun("b")
    with clock.asking("a"):
        clock.over("b")
        short = rings(clock, 0.01)
        await rings(other, 0.05).wait()
        assert not short.is_set()
    assert await short.wait()


async def test_an_alarm_that_is_called_off_stays_silent() -> None:
    clock, rung = WorkClock(), asyncio.Event()
    clock.alarm(0.01, rung.set)()
    await rings(clock, 0.02).wait()
    assert not rung.is_set()
