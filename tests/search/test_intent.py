import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.cpu import linear
from windlass.core.errors import BadInput
from windlass.core.events import Search
from windlass.search.intent import Intent, Mode, asked, backend_at, is_small_talk

QUESTION = "what's the weather in Nanaimo?"


@pytest.mark.parametrize(
    ("text", "mode", "prefix", "backend", "search", "left"),
    [
        (f"// {QUESTION}", "auto", True, "auto", "due", QUESTION),
        (f"//{QUESTION}", "auto", True, "auto", "due", QUESTION),
        (f"  //   {QUESTION}  ", "auto", True, "auto", "due", QUESTION),
        (f"\N{FULLWIDTH SOLIDUS}\N{FULLWIDTH SOLIDUS}{QUESTION}", "auto", True, "auto", "due", QUESTION),
        (f"// {QUESTION}", "on", True, "zai", "due", QUESTION),
        (f"// {QUESTION}", "off", True, "auto", "off", QUESTION),
        (f"// {QUESTION}", "auto", True, "off", "off", QUESTION),
        (f"// {QUESTION}", "on", True, "off", "off", QUESTION),
        (f"// {QUESTION}", "auto", False, "auto", "off", f"// {QUESTION}"),
        (f"// {QUESTION}", "on", False, "auto", "due", f"// {QUESTION}"),
        (f"// {QUESTION}", "auto", True, "builtin", "offered", QUESTION),
        (QUESTION, "auto", True, "auto", "off", QUESTION),
        (QUESTION, "on", True, "auto", "due", QUESTION),
        (QUESTION, "on", False, "auto", "due", QUESTION),
        (QUESTION, "off", True, "auto", "off", QUESTION),
        ("see https://a.test", "auto", True, "auto", "off", "see https://a.test"),
        ("/calculate expression=1", "auto", True, "auto", "off", "/calculate expression=1"),
        ("// line one\nline two", "auto", True, "auto", "due", "line one\nline two"),
    ],
)
def test_what_a_message_asks_for(text: str, mode: Mode, prefix: bool, backend: str, search: Search, left: str) -> None:
    intent = asked(text, mode, prefix, backend)
    assert (intent.search, intent.text, intent.small_talk) == (search, left, False)
    assert intent.query == ("" if search == "off" and not intent.unmet else " ".join(left.split()))


def test_a_wish_that_the_settings_forbid_is_known_as_such() -> None:
    assert asked(f"// {QUESTION}", backend="off").unmet
    assert not asked("// hello", backend="off").unmet
    assert not asked(f"// {QUESTION}", "off", backend="off").unmet
    assert not asked(QUESTION, backend="off").unmet


@pytest.mark.parametrize("text", ["//", "// ", "  //\n", "////"])
def test_slashes_and_nothing_else_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="nothing after"):
        asked(text)
    assert asked(text, prefix_enabled=False) == Intent(text, "off")


@pytest.mark.parametrize("mode", ["auto", "on"])
def test_small_talk_is_not_searched_for(mode: Mode) -> None:
    assert asked("// hello", mode) == Intent("hello", "off", small_talk=True)


def test_a_long_message_gives_a_short_query() -> None:
    query = asked("// " + "word " * 500).query
    assert 250 < len(query) <= 300 and query.endswith("word")
    assert len(asked("// " + "x" * 5000).query) == 300


@given(st.text())
def test_any_text_has_an_answer_and_loses_nothing_but_its_prefix(text: str) -> None:
    try:
        intent = asked(f"//{text}")
    except BadInput:
        assert not text.strip("/\N{FULLWIDTH SOLIDUS}" + "".join(c for c in text if c.isspace()))
        return
    assert f"//{text}".rstrip().endswith(intent.text)


@pytest.mark.parametrize(
    ("setting", "base_url", "in_force"),
    [
        ("builtin", "https://api.z.ai/api/paas/v4", "builtin"),
        ("builtin", "https://open.bigmodel.cn/api/paas/v4/", "builtin"),
        ("builtin", "https://api.z.ai/api/coding/paas/v4", "auto"),
        ("builtin", "https://api.openai.com/v1", "auto"),
        ("brave", "https://api.openai.com/v1", "brave"),
        ("off", "https://api.z.ai/api/coding/paas/v4", "off"),
    ],
)
def test_the_providers_own_search_is_used_only_where_there_is_one(setting: str, base_url: str, in_force: str) -> None:
    assert backend_at(setting, base_url) == in_force


@pytest.mark.parametrize(
    "text",
    [
        *(
            "hello",
            "Hello!",
            "HI THERE",
            "hey, how are you?",
            "how are you doing today?",
            "thanks a lot!",
            "Thank you so much",
        ),
        *(
            "good morning everyone",
            "hello hello",
            "ok thanks, bye",
            "what\N{RIGHT SINGLE QUOTATION MARK}s up?",
            "who are you?",
        ),
        *(
            "Hallo, wie geht's?",
            "Guten Morgen",
            "vielen Dank!",
            "Bonjour ça va ?",
            "merci beaucoup",
            "¡Hola! ¿Qué tal?",
        ),
        *("ciao, come stai", "olá, tudo bem?", "привет, как дела?", "спасибо", "merhaba", "cześć", "xin chào"),
        *("你好", "你好!谢谢", "こんにちは", "ありがとうございます", "안녕하세요", "مرحبا", "नमस्ते", "สวัสดี"),
        *("👋", "!!!", "", "   "),
    ],
)
def test_small_talk_is_known_in_several_languages(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "hello world program",
            "hi-fi speakers",
            "hiking in Nanaimo",
            "history of Rome",
            "thanksgiving date",
            "yo-yo tricks",
        ),
        *(
            "what's the weather in Nanaimo?",
            "how are you feeling treatments",
            "hello kitty",
            "good morning america ratings",
        ),
        *(
            "thanks to whom was penicillin found",
            "who are you wearing oscars",
            "goodbye lenin film",
            "ok boomer meaning",
        ),
        *(
            "there",
            "there you all",
            "today",
            "team",
            "you",
            "1+1",
            "C++",
            "wie geht es der Wirtschaft",
            "ciao restaurant opening hours",
        ),
        *("你好世界程序", "今天天气", "こんにちは赤ちゃん 歌詞", "안녕하세요 날씨", "привет из Москвы фильм"),
        " ".join(["hello"] * 17),
    ],
)
def test_a_question_that_begins_like_small_talk_is_none(text: str) -> None:
    assert not is_small_talk(text)


def test_a_huge_message_is_judged_in_no_time() -> None:
    with linear():
        assert not is_small_talk("hello " * 200_000)
