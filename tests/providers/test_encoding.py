"""Request bodies: what each profile gets, what is cached, what goes back to whom."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.kit import TOOLS, ask
from windlass.core.events import Settings
from windlass.core.messages import ChatMessage, Choice, MediaRef, PastTurn, ToolCall, Toolset, ToolSpec
from windlass.core.ports import ModelRequest
from windlass.providers.byte_cache import ByteCache
from windlass.providers.encoding import Encoder, filled
from windlass.providers.media import RequestMedia
from windlass.providers.profiles import DEFAULT, PROFILES, Profile, profile_for
from windlass.testing.strict_history import OPENAI, ZAI, history_faults

GLM = profile_for("https://api.z.ai/api/coding/paas/v4", "glm-4.7")


def body(
    request: ModelRequest, profile: Profile = DEFAULT, temperature: float | None = None, encoder: Encoder | None = None
) -> dict[str, Any]:
    encoder = encoder or Encoder("p1", ByteCache())
    made: dict[str, Any] = json.loads(encoder.body(request, profile, "some-model", temperature))
    return made


def turn_with_a_call(extra: str = "", reasoning: str = "") -> tuple[ChatMessage, ...]:
    call = ToolCall("call_1", "get_time", "{}", extra=extra)
    return (
        ChatMessage("user", "Time?"),
        ChatMessage("assistant", None, (call,), reasoning=reasoning),
        ChatMessage("tool", "12:00", call_id="call_1", name="get_time"),
    )


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: f"{profile.name} {profile.model}")
@pytest.mark.parametrize("choice", ["auto", "none", "required"])
@pytest.mark.parametrize("temperature", [None, 0, 0.7, 1, 2])
@pytest.mark.parametrize("tools", [TOOLS, Toolset()], ids=["tools", "no tools"])
def test_every_profile_makes_requests_its_provider_accepts(
    profile: Profile, choice: Choice, temperature: float | None, tools: Toolset
) -> None:
    request = ask(*turn_with_a_call(reasoning="Hm."), system="Be brief.", choice=choice, tools=tools)
    rules = ZAI if profile.name.startswith("glm") and profile.searches else OPENAI
    made = body(request, profile, temperature)
    if profile.reasoning_field == "reasoning":
        assert made["messages"][2].pop("reasoning") == "Hm."
    assert history_faults(made, rules) == []
    assert ("tools" in made) is bool(tools.tools)


@pytest.mark.parametrize(
    ("asked", "sent"),
    [(-1, (0.01, False)), (0, (0.01, False)), (0.5, (0.5, None)), (1, (0.99, None)), (2, (0.99, None))],
)
def test_glm_gets_a_temperature_inside_its_open_interval(asked: float, sent: tuple[float, bool | None]) -> None:
    made = body(ask(), GLM, asked)
    assert (made["temperature"], made.get("do_sample")) == sent


@pytest.mark.parametrize(
    ("address", "field"),
    [("https://api.openai.com/v1", "max_completion_tokens"), ("https://api.z.ai/api/paas/v4", "max_tokens")],
)
def test_the_limit_of_a_reply_stands_where_its_server_looks_for_it(address: str, field: str) -> None:
    request = replace(ask(*turn_with_a_call()), settings=Settings(max_tokens=7))
    assert body(request, profile_for(address, "gpt-4o"))[field] == 7


def test_reasoning_goes_back_only_where_the_profile_wants_it() -> None:
    request = ask(*turn_with_a_call(reasoning="Private."))
    assert body(request, GLM)["messages"][1]["reasoning_content"] == "Private."
    assert "Private." not in json.dumps(body(request, DEFAULT))


def test_opaque_fields_go_back_to_their_own_provider_only() -> None:
    extra = json.dumps({"p1": {"extra_content": {"signature": "abc"}}})
    request = ask(*turn_with_a_call(extra))
    mine = body(request, encoder=Encoder("p1", ByteCache()))["messages"][1]["tool_calls"][0]
    theirs = body(request, encoder=Encoder("p2", ByteCache()))["messages"][1]["tool_calls"][0]
    assert mine["extra_content"] == {"signature": "abc"}
    assert theirs.keys() == {"id", "type", "function"}


def test_providers_that_share_a_cache_do_not_share_opaque_fields() -> None:
    cache = ByteCache()
    past = PastTurn("turn-0", turn_with_a_call(json.dumps({"p1": {"secret": 1}})))
    mine = body(ask(past=(past,)), encoder=Encoder("p1", cache))
    theirs = body(ask(past=(past,)), encoder=Encoder("p2", cache))
    assert "secret" in json.dumps(mine)
    assert "secret" not in json.dumps(theirs)


def test_a_past_turn_is_encoded_once_and_again_when_it_was_revised() -> None:
    encoder = Encoder("p1", ByteCache())

    def said(past: PastTurn) -> str:
        text: str = body(ask(past=(past,)), encoder=encoder)["messages"][0]["content"]
        return text

    assert said(PastTurn("turn-0", (ChatMessage("user", "first"),))) == "first"
    assert said(PastTurn("turn-0", (ChatMessage("user", "second"),))) == "first"
    assert said(PastTurn("turn-0", (ChatMessage("user", "second"),), revision=1)) == "second"


def test_a_past_turn_with_nothing_left_leaves_no_hole() -> None:
    past = (PastTurn("turn-0", ()), PastTurn("turn-1", (ChatMessage("user", "a"),)), PastTurn("turn-2", ()))
    assert [message["content"] for message in body(ask("b", past=past))["messages"]] == ["a", "b"]


def test_tools_are_encoded_once_per_toolset_and_without_a_hash_each_time() -> None:
    encoder = Encoder("p1", ByteCache())

    def names(toolset: Toolset) -> list[str]:
        return [tool["function"]["name"] for tool in body(ask(tools=toolset), encoder=encoder)["tools"]]

    assert names(Toolset("h1", (ToolSpec("a", "s", "a"),))) == ["a"]
    assert names(Toolset("h1", (ToolSpec("b", "s", "b"),))) == ["a"]
    assert names(Toolset("", (ToolSpec("c", "s", "c"),))) == ["c"]
    assert names(Toolset("", (ToolSpec("d", "s", "d"),))) == ["d"]


def test_a_providers_own_tool_is_sent_as_it_stands() -> None:
    own = ToolSpec(
        "web_search", "provider", "web_search", schema='{"type":"web_search","web_search":{"enable":"True"}}'
    )
    made = body(ask(tools=Toolset("h", (own, *TOOLS.tools))), GLM)
    assert made["tools"][0] == {"type": "web_search", "web_search": {"enable": "True"}}
    assert made["tools"][1]["type"] == "function"
    assert history_faults({**made, "model": "glm-4.7"}, ZAI) == []


def test_a_providers_own_tool_is_not_sent_to_a_fallback_elsewhere() -> None:
    own = ToolSpec("web_search", "provider", "web_search", schema='{"type":"web_search"}')
    encoder = Encoder("p1", ByteCache())
    assert len(body(ask(tools=Toolset("h", (own, *TOOLS.tools))), GLM, encoder=encoder)["tools"]) == 1 + len(
        TOOLS.tools
    )
    made = body(ask(tools=Toolset("h", (own, *TOOLS.tools))), encoder=encoder)
    assert [tool["type"] for tool in made["tools"]] == ["function"] * len(TOOLS.tools)
    assert "tools" not in body(ask(tools=Toolset("g", (own,))), encoder=encoder)


def test_a_dropped_field_is_gone_wherever_it_came_from() -> None:
    encoder = Encoder("p1", ByteCache())
    for field in ("thinking", "tool_stream", "temperature"):
        assert field in body(ask(), GLM, 0.5, encoder)
        encoder.drop(field, "another-model")
        assert field in body(ask(), GLM, 0.5, encoder)
        encoder.drop(field, "some-model")
        assert field not in body(ask(), GLM, 0.5, encoder)


def test_without_streaming_no_usage_of_a_stream_is_asked_for() -> None:
    encoder = Encoder("p1", ByteCache())
    encoder.drop("stream", "some-model")
    assert body(ask(tools=Toolset()), encoder=encoder).keys() == {"model", "messages"}


def test_reasoning_can_be_dropped_too() -> None:
    encoder = Encoder("p1", ByteCache())
    encoder.drop("reasoning_content", "some-model")
    assert "Hm." not in json.dumps(body(ask(*turn_with_a_call(reasoning="Hm.")), GLM, encoder=encoder))


def test_the_cache_stays_below_its_size() -> None:
    cache = ByteCache(most=100)
    for number in range(50):
        cache.keep((number,), b"x" * 10)
    assert cache.get((0,)) is None
    assert cache.get((49,)) == b"x" * 10
    assert sum(cache.get((number,)) is not None for number in range(50)) == 10


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_sent_as_it_stands(text: str) -> None:
    assert body(ask(ChatMessage("user", text)))["messages"][0]["content"] == text


def test_half_a_character_is_replaced_and_two_halves_are_joined() -> None:
    sent = body(ask(ChatMessage("user", "a \ud83d b \ud83d\ude00 \udc00")))["messages"][0]["content"]
    assert sent == "a \ufffd b \U0001f600 \ufffd"
    odd = Toolset("", (ToolSpec("a", "s", "a", "\ud83d", '{"type":"object","title":"\ud83d"}'),))
    made = body(ask(system="\ud83d", tools=odd))
    assert made["messages"][0]["content"] == made["tools"][0]["function"]["description"] == "\ufffd"


@pytest.mark.parametrize(
    ("base_url", "model", "name"),
    [
        ("https://api.z.ai/api/coding/paas/v4", "glm-4.7", "glm"),
        ("https://api.z.ai/api/paas/v4/", "GLM-4.5-air", "glm"),
        ("https://open.bigmodel.cn/api/paas/v4", "glm-4-plus", "glm"),
        ("https://api.openai.com/v1", "gpt-4.1", "openai"),
        ("https://api.openai.com/v1", "o3-mini", "openai"),
        ("https://api.deepseek.com", "deepseek-chat", "deepseek"),
        ("https://api.deepseek.com/v1", "deepseek-reasoner", "deepseek"),
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen-max", "qwen"),
        ("http://127.0.0.1:11434/v1", "llama3.1", "ollama"),
        ("http://localhost:1234/v1", "any", "lmstudio"),
        ("http://localhost:8080/v1", "any", "llama.cpp"),
        ("http://gpu:8000/v1", "any", "vllm"),
        ("https://openrouter.ai/api/v1", "z-ai/glm-4.7", "glm-elsewhere"),
        ("https://example.com/v1", "mystery", "default"),
    ],
)
def test_a_profile_is_found_by_address_and_model(base_url: str, model: str, name: str) -> None:
    assert profile_for(base_url, model).name == name


def test_members_of_a_family_differ() -> None:
    base_url = "https://api.z.ai/api/paas/v4"
    assert [bool(profile_for(base_url, model).body) for model in ("glm-4-plus", "glm-4.5", "glm-4.7")] == [
        False,
        True,
        True,
    ]
    assert [bool(profile_for(base_url, model).tools_body) for model in ("glm-4.5", "glm-4.6", "glm-5")] == [
        False,
        True,
        True,
    ]
    assert profile_for("https://api.openai.com/v1", "o3-mini").temperature is None
    assert profile_for("https://api.openai.com/v1", "gpt-4.1").temperature is not None


def test_a_profile_can_be_named_outright() -> None:
    assert profile_for("https://example.com/v1", "glm-4.7", "glm") == GLM
    assert profile_for("https://example.com/v1", "glm-4.7", "no such profile") == DEFAULT


SEEN = MediaRef("result-1", 0, "image/png", 3)


def turn_with_a_picture() -> tuple[ChatMessage, ...]:
    asked, called, told = turn_with_a_call()
    return asked, called, replace(told, parts=("<r>", SEEN, "</r>")), ChatMessage("assistant", "Noon.")


def showing(letter: str, data: bytes = b"AAEC") -> RequestMedia:
    return RequestMedia("m", {SEEN: letter}, {SEEN: data} if letter == "s" else {})


def with_media(encoder: Encoder, request: ModelRequest, media: RequestMedia) -> bytes:
    return filled(encoder.body(request, DEFAULT, "m", None, media), request.prompt, media)


def test_the_bytes_of_a_past_picture_are_put_in_last_and_not_kept_with_its_turn() -> None:
    cache = ByteCache()
    encoder = Encoder("p1", cache)
    request = ask("And now?", past=(PastTurn("turn-0", turn_with_a_picture(), media=(SEEN,)),))
    first = with_media(encoder, request, showing("s", b"A" * 1_000_000))
    again = with_media(encoder, request, showing("s", b"BBBB"))
    assert again == first.replace(b"A" * 1_000_000, b"BBBB")
    assert [message["role"] for message in json.loads(again)["messages"]] == [
        *("user", "assistant", "tool", "user", "assistant", "user")
    ]
    assert sum(map(len, cache._held.values())) < 5_000


def test_a_past_turn_is_encoded_anew_where_its_picture_became_words() -> None:
    encoder = Encoder("p1", ByteCache())
    request = ask("And now?", past=(PastTurn("turn-0", turn_with_a_picture(), media=(SEEN,)),))
    texts = [with_media(encoder, request, showing(letter)).decode() for letter in "soxrgs"]
    assert texts[0] == texts[-1] and len(set(texts)) == 5
    for text, words in zip(texts[1:5], ("newer ones", "does not take", "refused it", "no longer"), strict=True):
        assert words in text and "image_url" not in text
        assert history_faults(json.loads(text), OPENAI) == []
    assert encoder.body(request, DEFAULT, "m", None).decode().count("image") == 0


@given(st.text(alphabet=st.sampled_from('\x00"\\é a'), max_size=30))
def test_no_text_is_taken_for_the_hole_of_a_picture(text: str) -> None:
    told = ChatMessage("tool", text, call_id="call_1", name="get_time", parts=(text, SEEN, "</r>"))
    request = ask(*turn_with_a_call()[:2], told)
    made = json.loads(with_media(Encoder("p1", ByteCache()), request, showing("s")))
    parts = made["messages"][-1]["content"]
    assert [part["text"] for part in parts[1:] if part["type"] == "text"] == [text, "</r>"]
    assert parts[2]["image_url"]["url"] == "data:image/png;base64,AAEC"


def test_each_model_is_told_of_itself_that_it_does_not_see() -> None:
    encoder = Encoder("p1", ByteCache())
    request = ask("And now?", past=(PastTurn("turn-0", turn_with_a_picture(), media=(SEEN,)),))
    for model in ("a", "b"):
        assert (
            f"{model} does not take pictures" in with_media(encoder, request, RequestMedia(model, {SEEN: "x"})).decode()
        )
