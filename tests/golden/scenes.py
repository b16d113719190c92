"""One scene for each kind of turn. Whatever runs at the same time is put in order by gates, so that a second recording
is the same as the first."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.golden.stage import Stage
from windlass.testing import Gate, call, error, hang, say, think, wait_for

Play = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scene:
    play: Play
    options: Mapping[str, Any] = field(default_factory=dict)


SCENES: dict[str, Scene] = {}


def scene(**options: Any) -> Callable[[Play], Play]:
    def keep(play: Play) -> Play:
        SCENES[play.__name__] = Scene(play, options)
        return play

    return keep


@scene()
async def answered(stage: Stage) -> None:
    stage.script(think("A greeting. ", "Be brief.") + say("Hello, ", "how can I help?"))
    await stage.open()
    await stage.finished(await stage.chat("Hello"))


@scene()
async def parallel(stage: Stage) -> None:
    """The second call ends first."""
    calls = [call("read_slow", effect_id=name, gate=stage.ledger.gate(name)) for name in ("a", "b")]
    stage.script(say("Two readings. ") + calls[0] + calls[1], say("Both are read."))
    await stage.open()
    turn = await stage.chat("Read both")
    for name in ("b", "a"):
        stage.ledger.open(name)
        await stage.event("tool_finished", turn_id=turn, call_id=_call_of(turn, 1, "ab".index(name)))
    await stage.finished(turn)


@scene()
async def progress(stage: Stage) -> None:
    stage.script(call("progress", steps=2, gate=stage.ledger.gate()), say("Done in two steps."))
    await stage.open()
    turn = await stage.chat("Take your time")
    for step in (1, 2):
        stage.ledger.open(f"gate.{step}")
        await stage.event("tool_progress", turn_id=turn, progress=step)
    await stage.finished(turn)


@scene()
async def tool_error(stage: Stage) -> None:
    """A call that failed, then the same call again in a turn of its own."""
    failing = call("fail", message="no such file")
    stage.script(failing, say("It did not work."), say("It failed again."))
    await stage.open()
    turn = await stage.chat("Read the file")
    await stage.finished(turn)
    made = await stage.server.post(f"/turns/{turn}/calls/{_call_of(turn, 1)}/retry")
    await stage.finished(made["turn"]["id"])


@scene()
async def bad_call(stage: Stage) -> None:
    """A tool that does not exist, and arguments that do not fit."""
    stage.script(call("sail", to="Nanaimo") + call("record", effect_id=7), say("I cannot do that."))
    await stage.open()
    await stage.finished(await stage.chat("Sail there"))


@scene()
async def approval_waiting(stage: Stage) -> None:
    await _ask_to_destroy(stage)


@scene()
async def approval_allowed(stage: Stage) -> None:
    turn = await _ask_to_destroy(stage, "It is gone.")
    await stage.act(turn, _call_of(turn, 1), "decision", {"decision": "allow"})
    await stage.finished(turn)


@scene()
async def approval_denied(stage: Stage) -> None:
    turn = await _ask_to_destroy(stage, "Then it stays.")
    await stage.act(turn, _call_of(turn, 1), "decision", {"decision": "deny", "reason": "not that one"})
    await stage.finished(turn)


@scene()
async def approval_edited(stage: Stage) -> None:
    turn = await _ask_to_destroy(stage, "The other one is gone.")
    edited = {"decision": "allow", "arguments": {"effect_id": "other"}}
    await stage.act(turn, _call_of(turn, 1), "decision", edited)
    await stage.finished(turn)


@scene()
async def unknown_waiting(stage: Stage) -> None:
    await _interrupt(stage)


@scene()
async def unknown_resolved(stage: Stage) -> None:
    """One call was carried out, one is left alone, one is sent again."""
    turn = await _interrupt(stage, "Two of three are certain.")
    for index, how in enumerate(("done", "skip", "retry")):
        await stage.act(turn, _call_of(turn, 1, index), "resolve", {"as": how})
        await stage.event("tool_started" if how == "retry" else "tool_finished", call_id=_call_of(turn, 1, index))
    stage.ledger.open("gate")
    await stage.finished(turn)


@scene()
async def input_waiting(stage: Stage) -> None:
    await _ask_for_input(stage)


@scene()
async def input_answered(stage: Stage) -> None:
    turn = await _ask_for_input(stage, "Hello Ada.")
    answer = {"action": "accept", "content": {"name": "Ada", "number": 3}}
    await stage.act(turn, _call_of(turn, 1), "input", answer)
    await stage.finished(turn)


@scene()
async def stopped(stage: Stage) -> None:
    """Stopped in the middle of a reply, then continued."""
    gate = Gate()
    stage.script(say("Half an answer", wait_for(gate), " and the rest."), say("Here is the rest."))
    await stage.open()
    turn = await stage.chat("Tell me all")
    await gate.reached()
    await stage.event("text_delta", turn_id=turn)
    await stage.server.post(f"/turns/{turn}/stop")
    await stage.finished(turn)
    made = await stage.server.post(f"/turns/{turn}/continue")
    await stage.finished(made["turn"]["id"])


@scene()
async def stopped_call(stage: Stage) -> None:
    """One call is stopped, the turn goes on."""
    stage.script(call("read_slow", effect_id="a", gate=stage.ledger.gate()), say("Without it, then."))
    await stage.open()
    turn = await stage.chat("Read")
    await stage.event("tool_started", turn_id=turn)
    await stage.ledger.seen("started", "a")
    await stage.act(turn, _call_of(turn, 1), "stop", {})
    await stage.finished(turn)


@scene()
async def limit(stage: Stage) -> None:
    stage.script(call("echo", text="one"), call("echo", text="two"), say("This far and no further."))
    await stage.open()
    await stage.finished(await stage.chat("Go on", max_rounds=2))


@scene()
async def retried(stage: Stage) -> None:
    """The first attempt breaks off in the middle of its text."""
    broken = say("The first try ", "at an answer").cut_after(700)
    stage.script(broken, say("The second try succeeds."))
    await stage.open()
    await stage.finished(await stage.chat("Try"))


@scene()
async def rate_limited(stage: Stage) -> None:
    """Seen while it waits for another attempt."""
    stage.script(error(429, "1302", "Too many requests.", {"Retry-After": "60"}))
    await stage.open()
    turn = await stage.chat("Hello")
    await stage.event("waiting", turn_id=turn)


@scene()
async def failed(stage: Stage) -> None:
    stage.script(error(401, "invalid_api_key", "Incorrect API key provided."))
    await stage.open()
    await stage.finished(await stage.chat("Hello"))


@scene()
async def trimmed(stage: Stage) -> None:
    """The history is too long for the model, so the turn goes on with less of it."""
    overflow = error(400, "context_length_exceeded", "This model's maximum context length is 10 tokens.")
    stage.script(say("One."), say("Two."), overflow, say("Three, and I forgot the first."))
    await stage.open()
    for content in ("Count", "Go on", "And on"):
        await stage.finished(await stage.chat(content))


@scene(dialect="zai")
async def searched(stage: Stage) -> None:
    search = call("web_search", query="weather in Nanaimo")
    stage.script(search, say("It rains [1], high water is at noon [2]."))
    await stage.open()
    await stage.finished(await stage.chat("// what's the weather in Nanaimo?"))


@scene()
async def branches(stage: Stage) -> None:
    """Answered again, and asked in other words."""
    stage.script(say("Once."), say("Twice."), say("Otherwise."))
    await stage.open()
    first = await stage.chat("Say it")
    await stage.finished(first)
    again = await stage.server.post(f"/turns/{first}/retry")
    await stage.finished(again["turn"]["id"])
    await stage.finished(await stage.chat("Say it differently", parent_turn_id=None))


@scene()
async def handed_over(stage: Stage) -> None:
    """A caller of the OpenAI route gets the call of its own tool back; the log is read afterwards."""
    stage.script(call("call_a_taxi", to="the harbour"))
    function = {"name": "call_a_taxi", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}}
    asked = [{"role": "user", "content": "A taxi, please"}]
    body = {"messages": asked, "tools": [{"type": "function", "function": function}]}
    made = await stage.server.post("/v1/chat/completions", body)
    turn = await stage.server.get(f"/turns/turn-{made['id'].partition('-')[2]}")
    await stage.follow(turn["turn"]["conversation_id"])
    await stage.finished(turn["turn"]["id"])


@scene()
async def added(stage: Stage) -> None:
    """A message put in by hand."""
    await stage.open()
    await stage.server.post(f"/conversations/{stage.conversation}/messages", {"role": "user", "content": "By hand"})
    await stage.event("turn_finished", outcome="added")


@scene()
async def running(stage: Stage) -> None:
    """Seen in the middle of its second reply, also by a watcher that comes late."""
    stage.script(call("echo", text="one"), say("So far", hang()))
    await stage.open()
    turn = await stage.chat("Go on")
    await stage.event("tool_finished", turn_id=turn)
    await stage.event("text_delta", turn_id=turn)
    await stage.follow(stage.conversation)
    await stage.event("reply_so_far", turn_id=turn)


def _call_of(turn: str, reply: int, index: int = 0) -> str:
    return f"call_{turn.partition('-')[2]}_{reply}_{index}"


async def _ask_to_destroy(stage: Stage, answer: str = "") -> str:
    stage.script(say("I will remove it. ") + call("destroy", effect_id="it"), *([say(answer)] if answer else []))
    await stage.open()
    turn = await stage.chat("Remove it")
    await stage.event("call_judged", turn_id=turn)
    await stage.event("waiting", turn_id=turn)
    return turn


async def _interrupt(stage: Stage, answer: str = "") -> str:
    """Three unsafe calls are under way when the server goes down."""
    calls = [call("record_slow", effect_id=name, gate=stage.ledger.gate()) for name in "abc"]
    stage.script(calls[0] + calls[1] + calls[2], *([say(answer)] if answer else []))
    await stage.open()
    turn = await stage.chat("Record three")
    for name in "abc":
        await stage.ledger.seen("started", name)
    before = len([event for event in stage.events if event["type"] == "turn_claimed"])
    await stage.restart()
    await stage.server.running("ledger")
    await stage.event("turn_claimed", turn_id=turn, epoch=before + 1)
    await stage.event("waiting", turn_id=turn)
    return turn


async def _ask_for_input(stage: Stage, answer: str = "") -> str:
    stage.script(call("ask"), *([say(answer)] if answer else []))
    await stage.open()
    turn = await stage.chat("Ask me")
    await stage.event("input_needed", turn_id=turn)
    await stage.event("waiting", turn_id=turn)
    return turn
