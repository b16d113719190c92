"""The owner of turns: starts, recovers, passes words on, makes room, lets go."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.core.memory import Script, says
from tests.kit.holding import held
from tests.kit.waiting import PATIENCE_S, turns_of_the_loop, until
from windlass.bus import Bus
from windlass.core.errors import Conflict, NotFound, ToolError, Unavailable
from windlass.core.events import (
    CallDecided,
    CallJudged,
    CallResolved,
    Limits,
    ModelReplied,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from windlass.core.messages import ChatMessage, ToolCall, ToolOutput
from windlass.core.ports import Emit, ModelRequest, Reply, Tools
from windlass.runner import Runner, TurnSlots
from windlass.store import ConversationRow, Store

HELLO = TurnStarted((ChatMessage("user", "hello"),))
CALL = ToolCall("c1", "send")


class OpenedApp:
    def __init__(self, folder: Path, script: Script) -> None:
        self.bus = Bus(lambda conversation, after: self.store.conversations.events_after(conversation, after))
        self.store = Store(folder, publish=self.bus.committed)
        self.script = script
        self.runner = Runner(self.store, self.bus, script, self)

    def for_turn(self, conversation_id: str, turn_id: str, started: TurnStarted) -> Tools:
        return self.script

    def was_unsent(self, call_id: str) -> bool:
        return False

    async def start(self) -> str:
        conversation = await self.store.conversations.create(ConversationRow(""))
        return (await self.runner.start(conversation.id, HELLO)).turn_id

    def outcome(self, turn_id: str) -> TurnFinished | None:
        last = self.store.conversations.log(turn_id)[-1].event
        return last if isinstance(last, TurnFinished) else None


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[OpenedApp]:
    made = OpenedApp(tmp_path, Script())
    yield made
    await made.runner.drain(0)
    await made.store.close()


async def test_a_started_turn_runs_to_its_end_by_itself(app: OpenedApp) -> None:
    app.script.lines = [says("", "a"), says("done")]
    turn = await app.start()
    await app.runner.settled(turn)
    assert app.outcome(turn) == TurnFinished("answered")
    assert app.runner.running == 0


async def test_a_turn_is_live_from_its_start_until_its_driver_ends(app: OpenedApp) -> None:
    app.script.lines = [says("done")]
    turn = await app.start()
    live = [app.store.logs.driven]
    await app.runner.settled(turn)
    assert [*live, app.store.logs.driven] == [1, 0]


async def test_a_turn_that_is_refused_or_was_there_already_is_not_left_live(app: OpenedApp) -> None:
    app.script.hangs = True
    conversation = await app.store.conversations.create(ConversationRow(""))
    once = TurnStarted(HELLO.opening, client_message_id="m1")
    first = await app.runner.start(conversation.id, once)
    again = await app.runner.start(conversation.id, once)
    with pytest.raises(Conflict):
        await app.runner.start(conversation.id, HELLO)
    assert (again.turn_id, again.is_new, app.store.logs.driven) == (first.turn_id, False, 1)


async def test_a_turn_whose_asker_left_or_whose_driver_never_ran_is_not_left_live(tmp_path: Path) -> None:
    app = OpenedApp(tmp_path, Script(hangs=True))
    conversation = await app.store.conversations.create(ConversationRow(""))
    async with held(tmp_path):
        asking = asyncio.create_task(app.runner.start(conversation.id, HELLO))
        await turns_of_the_loop()
        asking.cancel()
        await asyncio.wait([asking])
    left = [app.store.logs.driven]
    turn = await app.start()
    app.runner._driving[turn].cancel()
    await app.runner.settled(turn)
    assert [*left, app.store.logs.driven] == [0, 0]
    await app.runner.drain(0)
    await app.store.close()


async def test_a_turn_that_waits_holds_no_task_and_goes_on_with_the_word(app: OpenedApp) -> None:
    app.script.lines = [says("", "a"), says("done")]
    app.script.judge_as = lambda call: CallJudged(call.id, "ask")
    turn = await app.start()
    await app.runner.settled(turn)
    assert app.runner.running == 0
    await app.store.check()
    row = app.store.conversations.turn(turn)
    assert (row.state, row.approvals) == ("awaiting_person", 1)
    call = next(iter(_calls(app, turn)))
    assert await app.runner.decide(turn, CallDecided(call.id, allow=True))
    await app.runner.settled(turn)
    assert app.outcome(turn) == TurnFinished("answered")
    assert not await app.runner.decide(turn, CallDecided(call.id, allow=False))


def _calls(app: OpenedApp, turn_id: str) -> list[ToolCall]:
    events = [row.event for row in app.store.conversations.log(turn_id)]
    return [call for event in events if isinstance(event, ModelReplied) for call in event.calls]


async def test_words_for_calls_that_do_not_wait_are_refused(app: OpenedApp) -> None:
    app.script.lines = [says("", "a"), says("done")]
    turn = await app.start()
    await app.runner.settled(turn)
    call = next(iter(_calls(app, turn)))
    with pytest.raises(Conflict):
        await app.runner.decide(turn, CallDecided(call.id, allow=True))
    with pytest.raises(NotFound):
        await app.runner.decide(turn, CallDecided("call_none", allow=True))
    with pytest.raises(NotFound):
        await app.runner.stop("turn-none")


async def test_a_call_that_has_ended_by_itself_cannot_be_resolved(app: OpenedApp) -> None:
    app.script.lines = [says("", "a"), says("done")]
    app.script.tool = lambda call, emit: ToolError("gave up", cause="timeout", sent=True)
    turn = await app.start()
    await app.runner.settled(turn)
    call = next(iter(_calls(app, turn)))
    with pytest.raises(Conflict, match="has ended"):
        await app.runner.resolve(turn, CallResolved(call.id, "done"))


async def test_a_stop_ends_a_turn_at_any_moment_and_twice_is_once(app: OpenedApp) -> None:
    app.script.hangs = True
    turn = await app.start()
    await app.runner.stop(turn)
    await app.runner.settled(turn, 2)
    await app.runner.stop(turn)
    finished = app.outcome(turn)
    assert finished and finished.outcome == "stopped"


async def test_a_stop_works_while_an_approval_waits(app: OpenedApp) -> None:
    app.script.lines = [says("", "a")]
    app.script.judge_as = lambda call: CallJudged(call.id, "ask")
    turn = await app.start()
    await app.runner.settled(turn)
    await app.runner.stop(turn)
    await app.runner.settled(turn, 2)
    finished = app.outcome(turn)
    assert finished and finished.outcome == "stopped"


async def test_boot_runs_on_what_was_left_and_asks_about_what_is_unknown(tmp_path: Path) -> None:
    before = OpenedApp(tmp_path, Script(hangs=True))
    conversation = await before.store.conversations.create(ConversationRow(""))
    plain = await before.store.logs.create(conversation.id, HELLO)
    sent = await before.store.logs.create(
        conversation.id, HELLO, ModelReplied("", (CALL,)), CallJudged("c1", "auto"), ToolStarted("c1"), parent_id=None
    )
    before.store.abandon()

    after = OpenedApp(tmp_path, Script([says("back"), says("told")]))
    assert after.runner.recover() == 2
    await after.runner.settled(plain.turn_id)
    await after.runner.settled(sent.turn_id)
    assert after.outcome(plain.turn_id) == TurnFinished("answered")
    assert after.store.conversations.turn(sent.turn_id).state != "finished"
    assert await after.runner.resolve(sent.turn_id, CallResolved("c1", "done"))
    await after.runner.settled(sent.turn_id)
    assert after.outcome(sent.turn_id) == TurnFinished("answered")
    await after.store.close()


async def test_a_turn_left_waiting_survives_many_restarts(tmp_path: Path) -> None:
    app = OpenedApp(tmp_path, Script([says("", "a")], judge_as=lambda call: CallJudged(call.id, "ask")))
    turn = await app.start()
    await app.runner.settled(turn)
    for _ in range(6):
        app.store.abandon()
        app = OpenedApp(tmp_path, Script([says("done")]))
        app.runner.recover()
        await app.runner.settled(turn)
    assert app.outcome(turn) is None
    call = next(iter(_calls(app, turn)))
    await app.runner.decide(turn, CallDecided(call.id, allow=True))
    await app.runner.settled(turn)
    assert app.outcome(turn) == TurnFinished("answered")
    await app.store.close()


async def test_a_defect_ends_the_turn_with_a_typed_outcome(app: OpenedApp) -> None:
    app.script.lines = []  # popping from an empty list is no ModelError
    turn = await app.start()
    await app.runner.settled(turn)
    finished = app.outcome(turn)
    assert finished and (finished.outcome, finished.cause) == ("failed", "internal")


async def test_a_defect_that_cannot_be_noted_yet_is_noted_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("windlass.runner.STORE_RETRY_S", 0.01)
    monkeypatch.setattr("windlass.store.writer.BUSY_S", 0.01)
    script = Breaking()
    app = OpenedApp(tmp_path, script)
    script.other = other = sqlite3.connect(tmp_path / "windlass.db", isolation_level=None)
    turn = await app.start()
    await until(lambda: "is paused" in caplog.text, "the turn to be tried again")
    other.execute("rollback")
    other.close()
    await app.runner.settled(turn, PATIENCE_S)
    finished = app.outcome(turn)
    assert finished and (finished.outcome, finished.cause) == ("failed", "internal")
    await app.store.close()


class Breaking(Script):
    """A model with a defect, which shows when another program has just taken the file."""

    other: sqlite3.Connection | None = None

    async def reply(self, request: ModelRequest, emit: Emit) -> Reply:
        if self.other:
            self.other.execute("begin immediate")
            self.other = None
        raise KeyError


async def test_a_disk_with_room_for_little_holds_a_turn_up_but_does_not_fail_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("windlass.runner.STORE_RETRY_S", 0.01)
    monkeypatch.setattr("windlass.runner.LONGEST_RETRY_S", 0.02)
    app = OpenedApp(tmp_path, Script([says("x" * 1_000_000)] * 100))
    file = app.store._writer._connection
    (pages,) = file.execute("pragma page_count").fetchone()
    file.execute(f"pragma max_page_count = {pages + 20}")
    turn = await app.start()
    await until(lambda: caplog.text.count("is paused") > Limits().claims, "more pauses than claims are allowed")
    assert app.outcome(turn) is None
    file.execute("pragma max_page_count = 1000000")
    await app.runner.settled(turn, PATIENCE_S)
    assert app.outcome(turn) == TurnFinished("answered")
    await app.store.close()


async def test_a_conversation_deleted_under_a_turn_ends_its_driver(app: OpenedApp) -> None:
    result: asyncio.Future[ToolOutput] = asyncio.get_running_loop().create_future()
    app.script.lines = [says("", "a")]
    app.script.tool = lambda call, emit: result
    turn = await app.start()
    await until(lambda: bool(app.script.ran), "the call to be sent")
    driver = app.runner._driving[turn]
    await app.store.conversations.delete(app.store.conversations.turn(turn).conversation_id)
    result.set_result(ToolOutput("too late"))
    await asyncio.wait([driver], timeout=PATIENCE_S)
    assert driver.done() and driver.exception() is None


async def test_draining_takes_nothing_new_and_leaves_the_rest_for_the_next_start(tmp_path: Path) -> None:
    app = OpenedApp(tmp_path, Script(hangs=True))
    turn = await app.start()
    await app.runner.drain(0)
    with pytest.raises(Unavailable):
        await app.start()
    await app.store.close()
    after = OpenedApp(tmp_path, Script([says("back")]))
    after.runner.recover()
    await after.runner.settled(turn)
    assert after.outcome(turn) == TurnFinished("answered")
    await after.store.close()


async def test_a_word_said_while_draining_is_kept_and_acted_on_by_the_next_start(tmp_path: Path) -> None:
    asks = Script([says("", "a")], judge_as=lambda call: CallJudged(call.id, "ask"))
    app = OpenedApp(tmp_path, asks)
    turn = await app.start()
    await app.runner.settled(turn)
    await app.runner.drain(0)
    call = next(iter(_calls(app, turn)))
    assert await app.runner.decide(turn, CallDecided(call.id, allow=True))
    assert app.runner.running == 0
    await app.store.close()
    after = OpenedApp(tmp_path, Script([says("done")]))
    after.runner.recover()
    await after.runner.settled(turn)
    assert after.outcome(turn) == TurnFinished("answered")
    await after.store.close()


async def test_an_unsafe_call_cut_off_by_draining_is_asked_about_later(tmp_path: Path) -> None:
    app = OpenedApp(
        tmp_path, Script([says("", "send")], tool=lambda call, emit: asyncio.get_running_loop().create_future())
    )
    turn = await app.start()
    await until(lambda: bool(app.script.ran), "the call to be sent")
    await app.runner.drain(0)
    await app.store.close()
    after = OpenedApp(tmp_path, Script([says("done")]))
    after.runner.recover()
    await after.runner.settled(turn)
    assert not any(isinstance(row.event, ToolFinished) for row in after.store.conversations.log(turn))
    assert after.outcome(turn) is None
    await after.store.close()


async def test_more_turns_than_places_queue_and_a_stop_does_not(tmp_path: Path) -> None:
    app = OpenedApp(tmp_path, Script(hangs=True))
    app.runner = Runner(app.store, app.bus, app.script, app, at_once=1)
    first, second = await app.start(), await app.start()
    await until(lambda: bool(app.script.asked), "the model to be asked")
    assert len(app.script.asked) == 1
    await app.runner.stop(second)
    await app.runner.settled(second, PATIENCE_S)
    finished = app.outcome(second)
    assert finished and finished.outcome == "stopped"
    await app.runner.stop(first)
    await app.runner.settled(first, PATIENCE_S)
    await app.store.close()


async def test_a_stop_of_a_turn_that_waits_for_a_person_needs_no_place(tmp_path: Path) -> None:
    app = OpenedApp(tmp_path, Script([says("", "a")], judge_as=lambda call: CallJudged(call.id, "ask")))
    app.runner = Runner(app.store, app.bus, app.script, app, at_once=1)
    waits = await app.start()
    await app.runner.settled(waits)
    app.script.hangs = True
    works = await app.start()
    await until(lambda: len(app.script.asked) == 2, "the only place to be taken")
    await app.runner.stop(waits)
    await app.runner.settled(waits, PATIENCE_S)
    finished = app.outcome(waits)
    assert finished and finished.outcome == "stopped"
    await app.runner.stop(works)
    await app.runner.settled(works, PATIENCE_S)
    await app.store.close()


async def test_places_go_to_those_who_waited_longest() -> None:
    places = TurnSlots(1)
    order: list[str] = []
    told: list[tuple[str, int]] = []

    async def visit(name: str) -> None:
        if places.taken:
            await places.queue(name, lambda ahead: told.append((name, ahead)))
        with places:
            order.append(name)
            await turns_of_the_loop()

    await asyncio.gather(*(visit(name) for name in "abcd"))
    assert order == list("abcd")
    assert told == [("b", 0), ("c", 1), ("d", 2)]


async def test_a_tool_result_reaches_those_who_watch(app: OpenedApp) -> None:
    app.script.lines = [says("", "a"), says("done")]
    app.script.tool = lambda call, emit: ToolOutput("seen")
    turn = await app.start()
    watcher = app.bus.watch(app.store.conversations.turn(turn).conversation_id)
    await app.runner.settled(turn)
    kinds = [type(frame.what.event).__name__ for frame in await watcher.frames()]  # type: ignore[union-attr]
    assert kinds == [type(row.event).__name__ for row in app.store.conversations.log(turn)]


async def test_a_turn_whose_asker_left_before_it_was_on_disk_runs_all_the_same(
    app: OpenedApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.runner.STORE_RETRY_S", 0.01)
    app.script.lines = [says("done")]
    conversation = await app.store.conversations.create(ConversationRow(""))
    async with held(tmp_path):
        asking = asyncio.create_task(app.runner.start(conversation.id, HELLO))
        await turns_of_the_loop()
        asking.cancel()
        await asyncio.wait([asking])
    await until(lambda: app.store.conversations.recent()[0].state == "finished", "the turn to end")
    assert app.store.conversations.recent()[0].outcome == "answered"


async def test_a_turn_whose_asker_left_runs_however_long_the_file_was_held(
    app: OpenedApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.runner.STORE_RETRY_S", 0)
    app.script.lines = [says("done")]
    conversation = await app.store.conversations.create(ConversationRow(""))
    async with held(tmp_path):
        asking = asyncio.create_task(app.runner.start(conversation.id, HELLO))
        await turns_of_the_loop()
        asking.cancel()
        await asyncio.wait([asking])
        await turns_of_the_loop(10)  # looked for, and not there yet
    await until(lambda: app.store.conversations.recent()[0].state == "finished", "the turn to end", patience_s=10)
    assert app.store.conversations.recent()[0].outcome == "answered"


async def test_many_requests_that_could_not_be_written_are_recovered_by_one_check(
    app: OpenedApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.runner.STORE_RETRY_S", 0)
    checks: list[int] = []
    check = app.store.check

    def counted() -> "asyncio.Future[None]":
        checks.append(1)
        return check()

    monkeypatch.setattr(app.store, "check", counted)
    app.script.lines = [says("done")] * 5
    conversations = [await app.store.conversations.create(ConversationRow("")) for _ in range(5)]
    async with held(tmp_path):
        asking = [asyncio.create_task(app.runner.start(one.id, HELLO)) for one in conversations]
        await turns_of_the_loop()
        for task in asking:
            task.cancel()
        await asyncio.wait(asking)
        await turns_of_the_loop(10)
    await until(lambda: all(one.state == "finished" for one in app.store.conversations.recent()), "the turns to end")
    assert len(checks) == 1


async def test_a_word_whose_speaker_left_before_it_was_on_disk_is_acted_on(
    app: OpenedApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.runner.STORE_RETRY_S", 0.01)
    app.script.lines = [says("", "a"), says("done")]
    app.script.judge_as = lambda call: CallJudged(call.id, "ask")
    turn = await app.start()
    await app.runner.settled(turn)
    (call,) = _calls(app, turn)
    async with held(tmp_path):
        deciding = asyncio.create_task(app.runner.decide(turn, CallDecided(call.id, allow=True)))
        await turns_of_the_loop()
        deciding.cancel()
        await asyncio.wait([deciding])
    await until(lambda: app.outcome(turn) is not None, "the turn to end")
    assert app.outcome(turn) == TurnFinished("answered")
