"""The demo model: the same answer each time, real calls, every behaviour worth seeing."""

import json

import pytest

from tests.providers.kit import Recorder, ask
from windlass.core.errors import ModelError
from windlass.core.events import Settings
from windlass.core.fold import LIMIT_TEXTS
from windlass.core.messages import ChatMessage, ToolCall, Toolset, ToolSpec
from windlass.core.ports import DraftCall, ModelRequest, Prompt, ReasoningDelta, TextDelta
from windlass.providers.demo import DemoModel, demo_reply

EXPRESSION = '{"type":"object","properties":{"expression":{"type":"string"}},"required":["expression"]}'
COUNT = '{"type":"object","properties":{"to":{"type":"integer"},"loud":{"type":"boolean"},"tags":{"type":"array"}}}'
TOOLS = Toolset(
    "demo",
    (
        ToolSpec("calculate", "demo", "calculate", "Work out a sum.\nMore words.", EXPRESSION),
        ToolSpec("count_slowly", "demo", "count_slowly", "Count, with progress.", COUNT),
        ToolSpec("files__get", "f", "get", "", '{"type":"object","properties":{"path":{}},"required":["path"]}'),
        ToolSpec("web_search", "windlass", "web_search", "", '{"type":"object","properties":{"query":{}}}'),
    ),
)


def calls(text: str) -> list[tuple[str, object]]:
    reply = demo_reply(ask(text, tools=TOOLS))
    return [(call.name, json.loads(call.arguments)) for call in reply.calls]


def after(*results: tuple[str, str], asked: str = "/x", forced: bool = False) -> ModelRequest:
    made = tuple(ToolCall(f"c{n}", name) for n, (name, _) in enumerate(results))
    said = [ChatMessage("tool", text, call_id=f"c{n}", name=name) for n, (name, text) in enumerate(results)]
    word = [ChatMessage("user", LIMIT_TEXTS["rounds"].answer_now)] if forced else []
    return ask(
        asked, ChatMessage("assistant", None, made), *said, *word, tools=TOOLS, choice="none" if forced else "auto"
    )


def test_lines_with_a_slash_are_calls_made_at_once() -> None:
    assert calls("/calculate expression=6*7\nand\n  /count_slowly to=3") == [
        ("calculate", {"expression": "6*7"}),
        ("count_slowly", {"to": 3}),
    ]


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("/calculate expression=2 + 2", {"expression": "2 + 2"}),
        ("/calculate 2 + 2", {"expression": "2 + 2"}),
        ('/calculate expression="a b" ', {"expression": "a b"}),
        ("/calculate expression=x=1", {"expression": "x=1"}),
        ("/calculate expression='unclosed", {"expression": "'unclosed"}),
        ("/calculate", {}),
        ("/count_slowly to=3 loud=True tags='[1, 2]'", {"to": 3, "loud": True, "tags": [1, 2]}),
        ("/count_slowly to=many", {"to": "many"}),
    ],
)
def test_arguments_follow_the_schema(line: str, arguments: dict[str, object]) -> None:
    assert [given for _, given in calls(line)] == [arguments]


def test_other_text_explains_the_demo_the_tools_and_how_to_connect_a_model() -> None:
    text = demo_reply(ask("What are you?", tools=TOOLS)).text
    for words in ("demo model", "/calculate expression=6*7", "/files__get path=…", "OPENAI_BASE_URL", "LLM_MODEL"):
        assert words in text
    assert "More words" not in text


def test_it_is_the_same_each_time() -> None:
    assert demo_reply(ask("Hello", tools=TOOLS)) == demo_reply(ask("Hello", tools=TOOLS))


def test_an_unknown_tool_is_named_with_the_ones_there_are() -> None:
    reply = demo_reply(ask("/nonsense", tools=TOOLS))
    assert reply.calls == ()
    assert "no tool `nonsense`" in reply.text
    assert "/calculate" in reply.text


def test_without_tools_it_says_so() -> None:
    assert "No tools are enabled" in demo_reply(ask("Hi", tools=Toolset())).text


def test_results_are_summed_up() -> None:
    text = demo_reply(after(("calculate", "42"), ("count_slowly", '{"error": "out of breath"}'))).text
    assert "All 2 calls have ended" in text
    assert "**calculate**\n\n```\n42\n```" in text
    assert "**count_slowly** failed: out of breath" in text


def test_sources_are_cited_by_their_numbers() -> None:
    found = "Two pages.\n\nSources, to be cited as [n]:\n[1] Approval https://a.example\n[2] Policy https://b.example"
    text = demo_reply(after(("search_docs", found))).text
    assert "Sources: [1] [2]" in text
    assert "to be cited" not in text


def test_the_fence_around_untrusted_text_is_not_shown() -> None:
    inside = "hello\n\nSources, to be cited as [n]:\n[1] A https://a.example"
    fenced = f'<result-0123 tool="x" trust="untrusted">\n{inside}\n</result-0123>'
    text = demo_reply(after(("x", fenced))).text
    assert "```\nhello\n```" in text
    assert "untrusted" not in text
    assert "Sources: [1]" in text


def test_long_results_are_shortened_and_fences_kept_closed() -> None:
    text = demo_reply(after(("read_file", "```" + "x" * 5000))).text
    assert len(text) < 1000
    assert text.count("```") == 2


def test_the_limit_can_be_seen() -> None:
    first = demo_reply(ask("/limit", tools=TOOLS))
    again = demo_reply(after(("calculate", "1"), asked="/limit"))
    forced = demo_reply(after(("calculate", "1"), asked="/limit", forced=True))
    assert first.calls == (DraftCall("calculate", '{"expression": "0 + 1"}'),)
    assert again.calls == (DraftCall("calculate", '{"expression": "1 + 1"}'),)
    assert (forced.calls, bool(forced.text)) == ((), True)


def test_a_failure_can_be_seen() -> None:
    with pytest.raises(ModelError) as caught:
        demo_reply(ask("/fail", tools=TOOLS))
    assert not caught.value.retryable
    assert caught.value.hint


def test_a_search_that_is_due_is_made() -> None:
    prompt = Prompt("", (), (ChatMessage("user", "weather"),))
    request = ModelRequest("t", Settings(search="due", query="weather"), prompt, TOOLS)
    assert demo_reply(request).calls == (DraftCall("web_search", '{"query": "weather"}'),)


async def test_it_streams_a_few_words_at_a_time() -> None:
    recorder = Recorder()
    reply = await DemoModel(pause_s=0).reply(ask("/think of tea", tools=TOOLS), recorder)
    texts = [heard.text for heard in recorder.events if isinstance(heard, TextDelta)]
    thoughts = [heard.text for heard in recorder.events if isinstance(heard, ReasoningDelta)]
    assert len(texts) >= 1 and len(thoughts) > 1
    assert ("".join(texts), "".join(thoughts)) == (reply.text, reply.reasoning)
    assert "of tea" in reply.text


async def test_a_long_answer_is_long() -> None:
    recorder = Recorder()
    reply = await DemoModel(pause_s=0).reply(ask("/long", tools=TOOLS), recorder)
    assert "".join(heard.text for heard in recorder.events if isinstance(heard, TextDelta)) == reply.text
    assert len(recorder.events) > 50


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('/calculate {"expression": "6*7"}', {"expression": "6*7"}),
        ('/calculate {"expression": true}', {"expression": True}),
        ("/calculate {broken", {"expression": "{broken"}),
        ("/calculate [1]", {"expression": "[1]"}),
    ],
)
def test_a_json_object_is_taken_as_it_is(text: str, arguments: dict[str, object]) -> None:
    [made] = demo_reply(ask(text, tools=TOOLS)).calls
    assert json.loads(made.arguments) == arguments
