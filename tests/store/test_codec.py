"""Events as bytes and back, in today's version and in older ones."""

import sys
from types import FrameType

import pytest

from windlass.core.events import ModelReplied, TurnFinished, TurnStarted
from windlass.core.messages import ChatMessage
from windlass.store import ConversationRow, Store
from windlass.store.codec import RAISES, decode, encode

HELLO = TurnStarted((ChatMessage("user", "hello"),))


async def finished_turn(store: Store) -> str:
    conversation = await store.conversations.create(ConversationRow(""))
    return (await store.logs.create(conversation.id, HELLO, ModelReplied("hi"), TurnFinished("answered"))).turn_id


def lifted(kind: str, fields: dict[str, object]) -> dict[str, object]:
    """Once, say, the text of a reply was called its content."""
    return {"text": fields["content"]} if kind == "model_replied" else fields


def test_an_event_of_an_old_version_is_lifted_to_todays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RAISES, 0, lifted)
    assert decode("model_replied", b'{"content":"hi"}', 0) == ModelReplied("hi")
    assert decode("model_replied", encode(ModelReplied("hi"))) == ModelReplied("hi")


async def test_rows_of_an_old_version_are_read_as_todays_wherever_a_log_is_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RAISES, 0, lifted)
    turn_id = await finished_turn(store)
    conversation_id = store.conversations.turn(turn_id).conversation_id
    store._connection.execute(
        """update events set version = 0, body = '{"content":"old"}' where kind = 'model_replied'"""
    )
    assert [row.event for row in store.logs.read(turn_id)] == [HELLO, ModelReplied("old"), TurnFinished("answered")]
    (past,) = store.history.up_to(turn_id, conversation_id)
    assert [message.content for message in past.messages] == ["hello", "old"]


async def test_rows_of_todays_version_are_read_without_a_call_of_our_own_for_each(store: Store) -> None:
    turn_id = await finished_turn(store)
    conversation_id = store.conversations.turn(turn_id).conversation_id
    entered: list[str] = []

    def note(frame: FrameType, what: str, _: object) -> None:
        if what == "call" and frame.f_code.co_filename.endswith("codec.py"):
            entered.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        store.logs.read(turn_id)
        store.history.up_to(turn_id, conversation_id)
    finally:
        sys.setprofile(None)
    assert entered == []
