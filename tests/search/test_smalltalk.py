import pytest

from tests.kit.cpu import linear
from windlass.search.smalltalk import is_small_talk


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
