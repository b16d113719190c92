"""Foreign histories: whatever comes in, what goes on is whole."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from windlass.core.ids import new_id
from windlass.core.messages import ChatMessage
from windlass.services.imports import repaired, with_own_ids
from windlass.testing import history_faults

TEXT = st.one_of(st.none(), st.text(max_size=5), st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=3))))
IDS = st.sampled_from(["a", "b", "", "c" * 80, None, 7])
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "id": IDS,
        "type": st.just("function"),
        "function": st.one_of(
            st.none(),
            st.fixed_dictionaries(
                {},
                optional={
                    "name": st.sampled_from(["f", "", "bad name!", "x" * 100, None]),
                    "arguments": st.sampled_from(["{}", '{"a":1}', "[1]", "{", "", None, {"a": 1}, 7, '"x"']),
                },
            ),
        ),
    },
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system", "developer", "function", "alien", None])},
        optional={
            "content": TEXT,
            "tool_calls": st.one_of(st.none(), st.lists(CALLS, max_size=4), st.just("nonsense")),
            "tool_call_id": IDS,
            "name": st.one_of(st.none(), st.text(max_size=3)),
        },
    ),
    max_size=12,
)


@given(MESSAGES)
def test_any_history_becomes_one_that_providers_take(messages: list[dict[str, Any]]) -> None:
    sent = [_transport(message) for turn in repaired(messages).turns for message in with_own_ids(new_id("turn"), turn)]
    body = {"model": "m", "messages": [{"role": "system", "content": "s"}, *sent, {"role": "user", "content": "Go on"}]}
    assert history_faults(body) == []
    assert all(len(call["id"]) <= 40 for message in sent for call in message.get("tool_calls", []))


@given(MESSAGES)
def test_mending_what_is_whole_changes_nothing(messages: list[dict[str, Any]]) -> None:
    once = repaired(messages)
    again = repaired([_transport(message) for turn in once.turns for message in turn])

    assert again.turns == _clean(once.turns) and again.repairs == []


def test_each_persons_message_begins_a_turn() -> None:
    found = repaired([{"role": role, "content": role} for role in ("assistant", "user", "assistant", "user", "user")])
    assert [[message.role for message in turn] for turn in found.turns] == [
        ["assistant"], ["user", "assistant"], ["user"], ["user"],
    ]  # fmt: skip


def test_what_was_mended_is_said_and_the_raw_text_kept() -> None:
    call = {"id": "a", "function": {"name": "f", "arguments": "{broken"}}
    found = repaired([{"role": "assistant", "tool_calls": [call]}])

    assert found.turns[0][0].calls[0].raw == "{broken"
    assert json.loads(found.turns[0][1].content or "")["error"]
    assert found.repairs == ["f: the arguments were not a JSON object", "f: had no result; it got one that says so"]


def _clean(turns: list[list[ChatMessage]]) -> list[list[ChatMessage]]:
    """What a wire does not carry is lost on the way."""
    return [[_read(_transport(message)) for message in turn] for turn in turns]


def _read(wire: dict[str, Any]) -> ChatMessage:
    (turn,) = repaired([wire]).turns if wire["role"] != "tool" else [[]]
    if wire["role"] == "tool":
        return ChatMessage("tool", wire["content"], call_id=wire["tool_call_id"], name=wire["name"])
    return turn[0]


def _transport(message: ChatMessage) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.role == "tool":
        wire |= {"tool_call_id": message.call_id, "name": message.name}
    return wire


def test_a_picture_that_cannot_be_kept_leaves_a_word_in_its_place() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    found = repaired([{"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}])

    assert [message.content for (message,) in found.turns] == ["What is this?\n[image_url left out]"]
    assert found.repairs == ["message 0: image_url left out"]
