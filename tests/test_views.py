"""What a log looks like from outside."""

from windlass.core.events import Event, ModelReplied, Recorded, ToolFinished, TurnFinished, TurnStarted
from windlass.core.messages import Message, Source, ToolCall, ToolOutput
from windlass.views import TurnRecord, messages_shown


def record(*events: Event) -> TurnRecord:
    rows = tuple(Recorded(seq, seq + 1, float(seq), event) for seq, event in enumerate(events))
    return TurnRecord("turn-x", "conv-x", None, rows, {}, {})


def test_a_citation_without_a_source_is_flagged() -> None:
    found = ToolOutput("text", sources=(Source("A", "https://a.example"), Source("B", "https://b.example")))
    turn = record(
        TurnStarted((Message("user", "what is it"),)),
        ModelReplied("", (ToolCall("c1", "web_search"),)),
        ToolFinished("c1", "ok", found),
        ModelReplied("It is this [1], and also that [7]."),
        TurnFinished("answered"),
    )
    answer = messages_shown(turn)[-1]
    assert [source.n for source in answer.sources or ()] == [1, 2]
    assert answer.unknown_citations == [7]
