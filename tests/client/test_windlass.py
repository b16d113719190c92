"""The library, in process and over HTTP: the same verbs, the same answers."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

import windlass
from tests.kit.app import RunningApp, running_app
from tests.kit.cutting import cutting_proxy
from windlass import Decision, PendingCall, Windlass, load_config, tool
from windlass.api import routes
from windlass.api.events import KINDS
from windlass.api.routes import ROUTES
from windlass.client.resources import Resource
from windlass.core.errors import BadInput, Conflict, NotFound, Unavailable, WindlassError
from windlass.core.events import ToolFinished, ToolStarted, TurnFinished
from windlass.core.ports import ModelRequest, TextDelta, ToolProgress
from windlass.testing import ScriptedModel, scripted


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    with running_app(tmp_path_factory.mktemp("served") / "home") as running:
        yield running


@pytest.fixture(params=["in process", "over HTTP"])
async def w(request: pytest.FixtureRequest) -> AsyncIterator[Windlass]:
    if request.param == "in process":
        client = Windlass(config=load_config(demo=True))
    else:
        served: RunningApp = request.getfixturevalue("app")
        client = Windlass(served.url, served.token)
    async with client:
        yield client


async def test_a_scripted_model_answers_for_a_programs_own_test() -> None:
    asked: list[str] = []

    @tool
    def stock(item: str) -> int:
        """How many of an item are on the shelf."""
        asked.append(item)
        return 12

    model = ScriptedModel(scripted.call("stock", item="rope"), scripted.say("Twelve."))
    async with Windlass(model=model, functions=[stock]) as own:
        turn = await own.ask("How much rope is left?")
    assert (turn.answer, asked) == ("Twelve.", ["rope"])
    with pytest.raises(BadInput, match="only work in process"):
        Windlass("http://127.0.0.1:1", model=model)


async def test_a_question_gets_an_answer_through_a_tool(w: Windlass) -> None:
    turn = await w.ask("/calculate expression=6*7")
    assert turn.outcome == "answered"
    assert turn.answer and "42" in turn.answer
    assert [(call.name, call.state, call.server_slug) for call in turn.calls] == [("calculate", "ok", "demo")]


@pytest.mark.parametrize(
    ("options", "way"),
    [
        ({"tools": ["demo.calculate"]}, "switch_tools"),
        ({"tools": []}, "switch_tools"),
        ({"persona": "researcher"}, "conversations.change"),
        ({"system_prompt": "Be brief."}, "conversations.change"),
    ],
)
async def test_what_only_a_new_conversation_takes_is_refused_in_an_old_one(
    w: Windlass, options: dict[str, Any], way: str
) -> None:
    place = await w.begin(tools=["demo.get_time"])
    with pytest.raises(BadInput, match=f"`{next(iter(options))}`") as asked:
        await w.ask("/get_time", conversation_id=place, **options)
    assert way in asked.value.hint
    with pytest.raises(BadInput):
        await anext(w.stream("/get_time", conversation_id=place, **options))
    assert await w.messages.get_all(place) == []


async def test_sources_come_with_the_answer(w: Windlass) -> None:
    turn = await w.ask("/search_docs query=approval")
    assert turn.sources[0].url.startswith("https://modelcontextprotocol.io")
    assert turn.sources[0].n == 1


async def test_a_stream_tells_everything_in_order_and_ends(w: Windlass) -> None:
    events = [event async for event in w.stream("/count_slowly to=2 pause_ms=0")]
    names = [event.name for event in events if event.number]
    assert names[0] == "turn_started" and names[-1] == "turn_finished"
    kinds = [type(event.what) for event in events]
    assert kinds.index(ToolStarted) < kinds.index(ToolProgress) < kinds.index(ToolFinished)
    said = "".join(event.what.text for event in events if isinstance(event.what, TextDelta))
    assert "Counted to 2." in said
    assert isinstance(events[-1].what, TurnFinished) and events[-1].what.outcome == "answered"
    numbers = [event.number for event in events if event.number]
    assert numbers == sorted(set(numbers))


async def test_a_call_that_asks_leaves_the_turn_waiting_without_an_approver(w: Windlass) -> None:
    turn = await w.ask("/write_note title=a text=b")
    assert (turn.state, turn.outcome) == ("awaiting_person", None)
    [pending] = turn.pending_calls
    assert (pending.kind, pending.name) == ("approval", "write_note")
    await w.turns.decide(turn.id, pending.call_id, allow=False, reason="not today", hash=pending.hash)
    turn = await w.turns.get(turn.id, wait=90)
    assert turn.outcome == "answered"
    assert turn.calls[0].state == "denied" and "not today" in (turn.calls[0].result or "")


async def test_an_approver_is_asked_and_obeyed(w: Windlass) -> None:
    asked: list[PendingCall] = []

    async def approve(call: PendingCall) -> bool:
        asked.append(call)
        return "secret" not in call.arguments

    allowed = await w.ask("/write_note title=plans text=sails", approve=approve)
    denied = await w.ask("/write_note title=plans text=secret", approve=approve)
    assert (allowed.calls[0].state, denied.calls[0].state) == ("ok", "denied")
    assert [call.name for call in asked] == ["write_note", "write_note"]
    entries = (await w.audit.list(limit=2)).entries
    assert [(one.action, one.summary) for one in entries] == [
        ("deny", "demo.write_note"),
        ("allow", "demo.write_note"),
    ]
    assert {one.by for one in entries} <= {"person", "token"}


async def test_an_approver_may_change_the_arguments_or_leave_it(w: Windlass) -> None:
    changed = {"title": "other", "text": "words"}
    turn = await w.ask("/write_note title=a text=b", approve=lambda call: Decision("allow", arguments=changed))
    assert "other.md" in (turn.calls[0].result or "")
    turn = await w.ask("/write_note title=a text=b", approve=lambda call: None)
    assert turn.state == "awaiting_person"
    await w.turns.stop(turn.id)
    assert (await w.turns.get(turn.id, wait=90)).outcome == "stopped"


async def test_only_the_tools_named_are_offered(w: Windlass) -> None:
    place = await w.begin(tools=["demo.calc*", "read_file"])
    on = [(tool.tool_name, tool.approval) for tool in await w.tools.enabled(place)]
    assert sorted(name for name, _ in on) == ["calculate", "read_file"]
    turn = await w.ask("/get_time", conversation_id=place)
    assert turn.calls == [] and "no tool `get_time`" in (turn.answer or "")
    assert await w.tools.enabled(await w.begin(tools=[])) == []


async def test_a_pattern_is_no_consent_to_what_changes_things(w: Windlass) -> None:
    place = await w.begin(tools=["demo.*"])
    approvals = {tool.tool_name: tool.approval for tool in await w.tools.enabled(place)}
    assert approvals["write_note"] == "ask" and approvals["calculate"] != "ask"


async def test_a_tool_nobody_has_is_named(w: Windlass) -> None:
    with pytest.raises(BadInput, match="fly") as raised:
        await w.begin(tools=["fly"])
    assert "demo.calculate" in raised.value.hint


async def test_messages_are_added_read_and_deleted(w: Windlass) -> None:
    conversation = await w.conversations.create("By hand")
    added = await w.messages.add(conversation.id, "user", "hello")
    assert [message.content for message in await w.messages.get_all(conversation.id)] == ["hello"]
    assert await w.messages.delete(conversation.id, added.id) == [added.id]
    assert await w.messages.get_all(conversation.id) == []


async def test_a_call_and_its_result_are_added_in_order(w: Windlass) -> None:
    chat = (await w.conversations.create("By hand")).id
    call = {"id": "call_123", "type": "function", "function": {"name": "list_directory", "arguments": "{}"}}
    with pytest.raises(BadInput, match="tool_call_id"):
        await w.messages.add(chat, "tool", "API.md", tool_call_id="call_123", name="list_directory")
    await w.messages.add(chat, "user", "What is in /docs?")
    made = await w.messages.add(chat, "assistant", tool_calls=[call])
    added = await w.messages.add(chat, "tool", "API.md", tool_call_id="call_123", name="list_directory")
    await w.messages.add(chat, "assistant", "It has API.md.")
    shown = await w.messages.get_all(chat)
    assert [one.role for one in shown] == ["user", "assistant", "tool", "assistant"]
    assert made.tool_calls and shown[2] == added and added.content == "API.md"
    assert added.tool_call_id == made.tool_calls[0].id


async def test_a_conversation_is_chatted_in_listed_exported_and_deleted(w: Windlass) -> None:
    conversation = await w.conversations.create("Sums", system_prompt="Be brief.")
    await w.chat(conversation.id, "/calculate expression=1+1")
    await w.chat(conversation.id, "/calculate expression=2+2")
    assert len(await w.conversations.turns(conversation.id)) == 2
    assert conversation.id in [one.id for one in (await w.conversations.list()).conversations]
    export = await w.conversations.export(conversation.id)
    assert len(export.messages) == 8
    assert "# Sums" in await w.conversations.markdown(conversation.id)
    copy = await w.conversations.import_({"messages": [{"role": "user", "content": "Hello"}]})
    assert copy.count == 1
    await w.conversations.delete(conversation.id)
    with pytest.raises(NotFound):
        await w.conversations.get(conversation.id)


async def test_a_tool_is_called_without_a_model(w: Windlass) -> None:
    result = await w.servers.call_tool("demo", "calculate", {"expression": "2 + 3"})
    assert result.state == "ok" and "5" in result.text


async def test_stopping_ends_the_turn_while_it_is_watched(w: Windlass) -> None:
    outcome = ""
    async for event in w.stream("/count_slowly to=1000 pause_ms=20"):
        if isinstance(event.what, ToolProgress):
            await w.turns.stop(event.turn_id)
        if isinstance(event.what, TurnFinished):
            outcome = event.what.outcome
    assert outcome == "stopped"


async def test_any_request_can_be_sent_as_it_is(w: Windlass) -> None:
    status, body = await w.transport.raw("POST", "/conversations", b'{"title": "Raw"}')
    assert status == 201 and b'"Raw"' in body
    status, body = await w.transport.raw("GET", "/conversations/conv-nothing")
    assert status == 404 and b"not_found" in body


async def test_a_token_of_the_settings_is_not_rotated_in_process_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WINDLASS_TOKEN", "a-token-from-the-settings")
    monkeypatch.setenv("WINDLASS_HOME", str(tmp_path))
    async with Windlass(config=load_config(demo=True)) as own:
        status, body = await own.transport.raw("POST", "/token/rotate", b"{}")
    assert status == 409 and b"from_config" in body
    assert not (tmp_path / "token").exists()


async def test_what_only_the_http_server_answers_is_refused_in_process() -> None:
    async with Windlass(config=load_config(demo=True)) as own:
        with pytest.raises(BadInput, match="over HTTP only"):
            await own.transport.call(routes.access.rotate)


async def test_a_stream_is_not_called_like_a_request() -> None:
    async with Windlass("http://127.0.0.1:1") as remote:
        with pytest.raises(BadInput, match="is a stream"):
            await remote.transport.call(routes.turns.events, "turn-1", 0)


class OwnModel(ScriptedModel):
    closed = False

    def close(self) -> None:
        self.closed = True


async def test_a_model_that_a_program_brings_stays_open() -> None:
    model = OwnModel(scripted.say("Hello."))
    async with Windlass(model=model) as own:
        await own.ask("Hello?")
    assert not model.closed


async def test_errors_are_the_same_wherever_they_happen(w: Windlass) -> None:
    with pytest.raises(NotFound):
        await w.turns.get("turn-nothing")
    with pytest.raises(BadInput, match="colour"):
        await w.conversations.create(colour="blue")
    with pytest.raises(BadInput):
        await w.ask("   ")
    turn = await w.ask("/think")  # a short answer
    with pytest.raises(Conflict):
        await w.turns.continue_(turn.id)


async def test_a_server_that_is_not_there_is_said_in_one_line() -> None:
    async with Windlass("http://127.0.0.1:9", "x") as w:
        with pytest.raises(Unavailable, match="No Windlass answers at http"):
            await w.servers.stop("demo")


async def test_a_wrong_token_is_refused(app: RunningApp) -> None:
    async with Windlass(app.url, "wrong") as w:
        with pytest.raises(WindlassError) as raised:
            await w.conversations.list()
    assert raised.value.code == "unauthorized"


async def test_functions_of_the_program_are_tools() -> None:
    seen: list[str] = []

    @tool
    def greet(name: Annotated[str, "whom"], times: int = 1) -> str:
        """Greet somebody."""
        seen.append(name)
        return f"Hello {name}! " * times

    @tool(name="weigh")
    async def weigh_it(stones: list[float]) -> dict[str, float]:
        return {"sum": sum(stones)}

    async with Windlass(config=load_config(demo=True), functions=[greet, weigh_it]) as w:
        turn = await w.ask("/greet name=Ada times=2\n/weigh stones=[1,2.5]")
    assert [(call.name, call.server_slug, call.state) for call in turn.calls] == [
        ("greet", "python", "ok"),
        ("weigh", "python", "ok"),
    ]
    assert turn.calls[0].result == "Hello Ada! Hello Ada! "
    assert turn.calls[1].result == '{"sum":3.5}'
    assert seen == ["Ada"]


def last_message(request: ModelRequest) -> str:
    return request.prompt.current[-1].content or ""


async def test_a_long_result_of_a_function_is_shortened_and_read_in_pieces() -> None:
    whole = "".join(f"row {number}\n" for number in range(300_000))

    @tool
    def rows() -> str:
        return whole

    def read_on(request: ModelRequest) -> scripted.ScriptedLine:
        found = re.search(r'result_id "([^"]+)"', last_message(request))
        assert found, last_message(request)[:300]
        return scripted.call("result_read", result_id=found[1], offset=whole.index("row 200000\n"), length=100)

    model = ScriptedModel(scripted.call("rows"), read_on, scripted.say("Read."))
    async with Windlass(model=model, functions=[rows]) as w:
        turn = await w.ask("How many rows are there?")
        assert turn.calls[0].result_id
        piece = await w.turns.result(turn.calls[0].result_id, length=11)
    assert turn.answer == "Read." and [call.state for call in turn.calls] == ["ok", "ok"]
    assert len(last_message(model.requests[1])) < 17_000
    assert "row 200000\n" in last_message(model.requests[2])
    assert (piece.text, piece.size) == ("row 0\nrow 1", len(whole))


async def test_a_long_error_of_a_function_is_shortened() -> None:
    @tool
    def broken() -> str:
        raise ValueError("no such row: " + "x" * 3_000_000)

    model = ScriptedModel(scripted.call("broken"), scripted.say("It failed."))
    async with Windlass(model=model, functions=[broken]) as w:
        turn = await w.ask("Try it.")
    assert turn.calls[0].state == "error"
    assert turn.calls[0].cause == "tool_error"
    result = last_message(model.requests[1])
    assert len(result) < 17_000 and "ValueError: no such row: xxx" in result


async def test_a_function_that_asks_waits_and_one_that_fails_tells_the_model() -> None:
    @tool(approval="ask")
    def launch() -> str:
        raise RuntimeError("no fuel")

    async with Windlass(config=load_config(demo=True), functions=[launch]) as w:
        waiting = await w.ask("/launch")
        assert waiting.state == "awaiting_person"
        turn = await w.wait(waiting, approve=lambda call: True)
    assert turn.calls[0].state == "error" and "no fuel" in (turn.calls[0].result or "")


def test_a_function_without_types_is_refused_when_it_is_made() -> None:
    with pytest.raises(BadInput, match="needs a type"):

        @tool
        def vague(thing) -> str:  # type: ignore[no-untyped-def]
            return str(thing)

    with pytest.raises(BadInput, match="named parameters only"):

        @tool
        def wide(*things: str) -> str:
            return "".join(things)


def test_functions_cannot_be_called_by_a_server_elsewhere() -> None:
    with pytest.raises(BadInput, match="in process"):
        Windlass("http://127.0.0.1:1", functions=[lambda: ""])


def test_a_program_without_a_loop_can_ask(app: RunningApp) -> None:
    turn = windlass.ask_sync("/calculate expression=1+1", url=app.url, token=app.token)
    assert turn.outcome == "answered" and "2" in (turn.answer or "")


async def test_an_unfinished_turn_is_picked_up_when_the_folder_is_opened_again() -> None:
    config = load_config(demo=True)
    async with Windlass(config=config) as w:
        turn = await w.ask("/write_note title=later text=b")
        [pending] = turn.pending_calls
    async with Windlass(config=config) as w:
        await w.turns.decide(turn.id, pending.call_id, allow=True)
        turn = await w.turns.get(turn.id, wait=90)
    assert turn.outcome == "answered"
    assert (Path(config.home) / "notes" / "later.md").exists()


async def test_two_programs_cannot_open_one_folder() -> None:
    config = load_config(demo=True)
    async with Windlass(config=config):
        with pytest.raises(Unavailable, match="Another Windlass"):
            async with Windlass(config=config):
                pass


def test_every_public_name_can_be_imported() -> None:
    for name in windlass.__all__:
        assert getattr(windlass, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = windlass.nothing


def test_every_event_has_a_kind_and_every_verb_a_method() -> None:
    assert {"turn_started", "text_delta", "reply_so_far"} <= KINDS.keys()
    groups = {route.group for route in ROUTES}
    known = {cls.__name__.removesuffix("Resource").lower() for cls in Resource.__subclasses__()}
    assert groups - known <= {"access", "system", "v1", "gateway", "gallery"}  # the gallery's are in `w.servers`


async def test_watching_ends_when_nobody_looks_any_more(w: Windlass) -> None:
    stream = w.stream("/count_slowly to=3 pause_ms=10")
    first = await anext(stream)
    await stream.aclose()
    turn = await w.turns.get(first.turn_id, wait=90)
    assert turn.outcome == "answered", "leaving the stream does not stop the turn"


@pytest.mark.parametrize("letters", [10, 300, 700, 2000, 5000])
async def test_a_broken_connection_is_taken_up_where_it_broke(app: RunningApp, letters: int) -> None:
    async with Windlass(app.url, app.token) as direct:
        place = await direct.begin()
        with cutting_proxy(app.port, letters, cuts=3) as url:
            async with Windlass(url, app.token) as w:
                seen = [event async for event in w.stream("/calculate expression=6*7", conversation_id=place)]
        [turn] = await direct.conversations.turns(place)
        log = await direct.turns.log(turn.id)
    assert [event.number for event in seen if event.number] == [event["id"] for event in log]
    assert seen[-1].is_end


async def test_an_answer_lost_on_the_way_is_asked_for_again_and_not_made_twice(app: RunningApp) -> None:
    async with Windlass(app.url, app.token) as direct:
        place = await direct.begin()
        with cutting_proxy(app.port, 10, cuts=2) as url:
            async with Windlass(url, app.token) as w:
                turn = await w.chat(place, "/calculate expression=6*7")
        assert [one.id for one in await direct.conversations.turns(place)] == [turn.id]
    assert turn.outcome == "answered"
