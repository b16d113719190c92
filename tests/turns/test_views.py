"""What a log looks like from outside."""

from dataclasses import replace
from datetime import datetime

import pytest

from windlass.core.events import (
    CallDecided,
    CallJudged,
    CallResolved,
    Event,
    ModelFailed,
    ModelReplied,
    Recorded,
    ToolFinished,
    ToolStarted,
    TurnClaimed,
    TurnFinished,
    TurnStarted,
)
from windlass.core.messages import ChatMessage, SourceLink, ToolCall, ToolOutput
from windlass.core.ports import InputNeeded
from windlass.turns.views import TurnRecord, _message_id, chat_answer, event_shown, iso, messages_shown, turn_shown


def record(*events: Event) -> TurnRecord:
    rows = tuple(Recorded(seq, seq + 1, float(seq), event) for seq, event in enumerate(events))
    return TurnRecord("turn-x", "conv-x", None, rows, {}, {})


def test_a_citation_without_a_source_is_flagged() -> None:
    found = ToolOutput("text", sources=(SourceLink("A", "https://a.example"), SourceLink("B", "https://b.example")))
    turn = record(
        TurnStarted((ChatMessage("user", "what is it"),)),
        ModelReplied("", (ToolCall("c1", "web_search"),)),
        ToolFinished("c1", "ok", found),
        ModelReplied("It is this [1], and also that [7]."),
        TurnFinished("answered"),
    )
    answer = messages_shown(turn)[-1]
    assert [source.n for source in answer.sources or ()] == [1, 2]
    assert answer.unknown_citations == [7]


CALL = ToolCall("c1", "send", '{"to":"a"}')
OPENING = TurnStarted((ChatMessage("user", "go"),))
ASKED = (OPENING, ModelReplied("", (CALL,)), CallJudged("c1", "ask", "rule 1", "hash-1", server="s1"))
AUTO = (OPENING, ModelReplied("", (CALL,)), CallJudged("c1", "auto", "enabled", "hash-1", server="s1"))
SENT = (*AUTO, ToolStarted("c1"))


@pytest.mark.parametrize(
    ("log", "turn", "call", "kinds"),
    [
        (AUTO, "running", "queued", []),
        (ASKED, "awaiting_person", "awaiting_approval", ["approval"]),
        ((*ASKED, CallDecided("c1", True)), "running", "queued", []),
        (SENT, "running", "running", []),
        ((*SENT, TurnClaimed()), "awaiting_person", "unknown", ["unknown"]),
        ((*SENT, TurnClaimed(), CallResolved("c1", "retry")), "running", "queued", []),
        ((*SENT, ToolFinished("c1", "ok")), "running", "ok", []),
        ((*SENT, ToolFinished("c1", "error")), "running", "error", []),
        ((*ASKED, ToolFinished("c1", "denied")), "running", "denied", []),
        ((*ASKED, ToolFinished("c1", "cancelled"), TurnFinished("stopped")), "finished", "cancelled", []),
    ],
)
def test_a_turn_and_its_call_are_shown_in_their_states(
    log: tuple[Event, ...], turn: str, call: str, kinds: list[str]
) -> None:
    shown = turn_shown(record(*log))

    assert (shown.state, shown.calls[0].state) == (turn, call)
    assert [pending.kind for pending in shown.pending_calls] == kinds


def test_a_question_of_a_running_call_waits_for_a_person() -> None:
    asking = replace(record(*SENT), questions={"c1": InputNeeded("c1", "Who?", '{"type":"object"}')})
    shown = turn_shown(asking)

    assert shown.state == "awaiting_person"
    assert [(one.kind, one.question, one.question_schema) for one in shown.pending_calls] == [
        ("input", "Who?", {"type": "object"})
    ]


def test_a_call_names_its_server_by_slug_and_shows_what_a_person_made_of_it() -> None:
    log = (*ASKED, CallDecided("c1", True, arguments='{"to":"b"}'), ToolStarted("c1"))
    shown = turn_shown(replace(record(*log), slugs={"s1": "mail"})).calls[0]

    assert (shown.server_slug, shown.arguments, shown.rule, shown.hash) == ("mail", '{"to":"b"}', "rule 1", "hash-1")
    assert (shown.started_at, shown.finished_at) == ("1970-01-01T00:00:04.000Z", None)


def test_a_call_to_a_server_that_left_the_settings_keeps_its_slug() -> None:
    judged = CallJudged("c1", "auto", server="server-mail")
    assert turn_shown(record(*AUTO[:2], judged)).calls[0].server_slug == "mail"


def test_what_broke_off_is_shown_with_its_error_and_is_no_answer() -> None:
    failed = record(
        OPENING,
        ModelFailed("timeout", "No answer.", partial="The first"),
        TurnFinished("failed", "timeout", "No answer."),
    )
    answer = chat_answer(failed)
    last = messages_shown(failed)[-1]

    assert (last.role, last.content) == ("assistant", "The first")
    assert last.error and last.error.code == "timeout"
    assert answer.assistant_message is None and answer.outcome == "failed" and not answer.success


def test_an_error_without_words_stands_on_the_message_it_left_unanswered() -> None:
    (only,) = messages_shown(record(OPENING, TurnFinished("failed", "auth", "Refused.", "Check the key.")))
    assert only.role == "user" and only.error and (only.error.code, only.error.hint) == ("auth", "Check the key.")


def test_results_stand_in_the_order_of_the_calls_whenever_they_came() -> None:
    second = ToolCall("c2", "read")
    shown = messages_shown(
        record(
            OPENING,
            ModelReplied("", (CALL, second)),
            ToolFinished("c2", "ok", ToolOutput("two")),
            ToolFinished("c1", "error", ToolOutput("one")),
            ModelReplied("Done."),
            TurnFinished("answered"),
        )
    )
    assert [(one.role, one.content) for one in shown[1:4]] == [
        ("assistant", None),
        ("tool", '{"error": "one"}'),
        ("tool", "two"),
    ]
    assert [one.id for one in shown] == ["msg-x-0", "msg-x-1", "msg-x-3", "msg-x-2", "msg-x-4"]


def test_blanked_messages_are_not_shown() -> None:
    shown = messages_shown(
        record(
            TurnStarted((ChatMessage("user", ""), ChatMessage("user", "kept")), blanked=(0,)),
            ModelReplied("", (CALL,), blanked=True),
            ToolFinished("c1", "ok", blanked=True),
            ModelReplied("Done."),
            TurnFinished("answered"),
        )
    )
    assert [one.content for one in shown] == ["kept", "Done."]
    assert shown[0].id == "msg-x-0.1"


def test_only_tool_rounds_that_ran_are_counted() -> None:
    refused = (OPENING, ModelReplied("", (CALL,)), ToolFinished("c1", "error"), ModelReplied("No."))
    assert turn_shown(record(*refused, TurnFinished("answered"))).rounds == 0
    assert (
        turn_shown(record(*SENT, ToolFinished("c1", "ok"), ModelReplied("Yes."), TurnFinished("answered"))).rounds == 1
    )


def test_events_are_named_as_on_the_wire() -> None:
    shown = event_shown(record(*AUTO), record(*AUTO).rows[2])
    assert (shown["event"], shown["id"], shown["seq"], shown["call_id"]) == ("call_judged", 3, 2, "c1")
    assert "parent_turn_id" not in shown
    assert event_shown(record(*AUTO), record(*AUTO).rows[0])["parent_turn_id"] is None


@pytest.mark.parametrize("text", ["1969-12-31T23:59:59.500Z", "2026-11-16T11:05:41.007Z", "2026-12-31T23:59:59.999Z"])
def test_times_are_shown_in_utc_to_the_millisecond(text: str) -> None:
    assert iso(datetime.fromisoformat(text).timestamp()) == text


def test_a_message_id_names_its_event() -> None:
    assert _message_id("turn-abc", 4) == "msg-abc-4"
    assert _message_id("turn-abc", 0, 2) == "msg-abc-0.2"
