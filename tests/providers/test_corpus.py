"""Streams as servers send them, whole and broken, each with the reply it must give. The first line of a file is a
comment to the stream and says what is expected; a field left out is empty."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.providers.kit import QUICK, TOOLS
from windlass.core.errors import ModelError
from windlass.core.messages import SourceLink, Usage
from windlass.core.ports import DraftCall, Emit, LiveEvent, Reply
from windlass.providers.answer import Deadline, read_answer
from windlass.providers.assembly import Assembly
from windlass.providers.profiles import PROFILES

CASES = sorted((Path(__file__).parent / "corpus").glob("*.sse"))


class Memory:
    """A body that is all there."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]

    async def readany(self) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    def at_eof(self) -> bool:
        return not self._pieces


def load(path: Path) -> tuple[dict[str, Any], bytes]:
    head, _, body = path.read_bytes().partition(b"\n")
    return json.loads(head.removeprefix(b": ")), body


class WithoutFastPath(Assembly):
    def _take_fast(self, chunk: dict[str, object]) -> bool:
        return False


class CountsFastPath(Assembly):
    taken = 0

    def _take_fast(self, chunk: dict[str, object]) -> bool:
        taken = super()._take_fast(chunk)
        CountsFastPath.taken += taken
        return taken


async def replay(
    pieces: Iterable[bytes],
    profile: str = "default",
    kind: type[Assembly] = Assembly,
    emit: Emit = lambda event: None,
) -> Reply | ModelError:
    finish_reasons = next(one.finish for one in PROFILES if one.name == profile)
    assembly = kind(TOOLS, emit, provider="p1", finish_reasons=finish_reasons)
    late: list[TimeoutError] = []
    deadline = Deadline(QUICK, late.append)
    try:
        await read_answer(Memory(pieces), assembly, deadline)
        return assembly.reply()
    except ModelError as error:
        return error
    finally:
        deadline.cancel()
        assert not late


def test_the_corpus_is_large_and_covers_every_kind_of_profile() -> None:
    kinds = Counter(path.stem.partition("-")[0] for path in CASES)
    assert sum(kinds.values()) >= 60
    assert kinds.keys() == {
        *("default", "glm", "openai", "deepseek"),
        *("qwen", "ollama", "lmstudio", "llamacpp", "vllm"),
    }


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
async def test_a_stream_gives_the_expected_reply(path: Path) -> None:
    expected, body = load(path)
    given = await replay([body], expected.get("profile", "default"))
    if "error" in expected:
        assert isinstance(given, ModelError), given
        assert (given.code, given.retryable) == (expected["error"], expected["retryable"])
        assert given.partial == expected.get("partial", given.partial)
        return
    assert isinstance(given, Reply), repr(given)
    assert given.text == expected.get("text", "")
    assert given.reasoning == expected.get("reasoning", "")
    assert given.finish == expected.get("finish", "stop")
    assert given.usage == Usage(**expected.get("usage", {}))
    assert given.sources == tuple(SourceLink(title, url) for title, url in expected.get("sources", []))
    assert list(given.repairs) == expected.get("repairs", [])
    assert len(given.calls) == len(expected.get("calls", []))
    for call, wanted in zip(given.calls, expected.get("calls", []), strict=True):
        check_call(call, wanted)
    if given.repairs or any(call.repairs for call in given.calls):
        assert given.raw


def check_call(call: DraftCall, wanted: dict[str, Any]) -> None:
    assert call.name == wanted["name"]
    assert json.loads(call.arguments) == wanted["arguments"]
    assert bool(call.broken) == wanted.get("broken", False)
    assert bool(call.repairs) == wanted.get("repaired", False)
    assert call.wire_id == wanted.get("wire_id", call.wire_id)
    assert call.raw == wanted.get("raw", call.raw)
    assert json.loads(call.extra or "{}") == wanted.get("extra", {})
    if call.broken or call.repairs:
        assert call.raw or "no arguments were sent: taken as {}" in call.repairs


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
async def test_a_stream_in_single_bytes_gives_the_same(path: Path) -> None:
    expected, body = load(path)
    profile = expected.get("profile", "default")
    whole, torn = await replay([body], profile), await replay([body[at : at + 1] for at in range(len(body))], profile)
    if isinstance(whole, ModelError):
        assert isinstance(torn, ModelError)
        assert (torn.code, torn.partial) == (whole.code, whole.partial)
    else:
        assert torn == whole


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
async def test_a_stream_cut_at_any_byte_never_passes_for_whole(path: Path) -> None:
    expected, body = load(path)
    profile = expected.get("profile", "default")
    whole = await replay([body], profile)
    end = len(body.rstrip()) if expected.get("whole") else body.find(b'"finish_reason":"')
    for at in range(len(body)):
        cut = await replay([body[:at]], profile)
        if isinstance(cut, ModelError):
            continue
        assert at >= end > 0, f"cut at {at}, the reply ends at {end}: {cut}"
        assert isinstance(whole, Reply)
        assert essence(cut) == essence(whole)


def essence(reply: Reply) -> object:
    return reply.text, reply.reasoning, reply.finish, reply.calls


@pytest.mark.parametrize("torn", [False, True], ids=["whole", "single bytes"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
async def test_the_fast_path_gives_what_the_plain_one_gives(path: Path, torn: bool) -> None:
    expected, body = load(path)
    pieces = [body[at : at + 1] for at in range(len(body))] if torn else [body]
    await check_both_paths(pieces, expected.get("profile", "default"))


FIRST = b'data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}\n\n'
LAST = b'data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
PLAIN = {"index": 0, "delta": {"content": "x"}, "finish_reason": None}


@pytest.mark.parametrize(
    "chunk",
    [
        {"choices": [PLAIN]},
        {"choices": [PLAIN, PLAIN]},
        {"choices": [PLAIN | {"message": {"content": "y"}, "text": "z"}]},
        {"choices": [PLAIN | {"delta": {"content": ""}}]},
        {"choices": [PLAIN | {"delta": {"content": None}}]},
        {"choices": [PLAIN | {"delta": {"content": ["x", {"type": "text", "text": "y"}]}}]},
        {"choices": [PLAIN | {"delta": {"content": "x", "reasoning_content": "y"}}]},
        {"choices": [PLAIN | {"delta": {"refusal": "x"}}]},
        {"choices": [PLAIN | {"delta": {"content": "<think>"}}, PLAIN]},
        {"choices": [PLAIN | {"delta": None, "message": {"content": "y"}}]},
        {"choices": [PLAIN | {"delta": "x"}]},
        {"choices": [PLAIN | {"delta": ["content"]}]},
        {"choices": [PLAIN | {"delta": 1}]},
        {"choices": [PLAIN | {"finish_reason": "length"}]},
        {"choices": [PLAIN | {"finish_reason": ""}]},
        {"choices": [{"delta": {"content": "x"}}]},
        {"choices": [None]},
        {"choices": ["x"]},
        {"choices": [[PLAIN]]},
        {"choices": []},
        {"choices": None},
        {"choices": PLAIN},
        {"choices": {"0": PLAIN}},
        {"choices": [PLAIN], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
        {"choices": [PLAIN], "error": {"code": "1302", "message": "slow down"}},
        {"choices": [PLAIN], "model": "another"},
        {"choices": [PLAIN], "web_search": [{"title": "t", "link": "https://a.test/"}]},
        {"choices": [PLAIN], "code": 200, "success": True},
    ],
    ids=json.dumps,
)
async def test_a_chunk_that_is_nearly_plain_text_is_read_alike_on_both_paths(chunk: dict[str, object]) -> None:
    line = b"data: " + json.dumps({"id": "1"} | chunk).encode() + b"\n\n"
    await check_both_paths([FIRST, line, line, LAST])


async def test_the_fast_path_is_taken_by_much_of_the_corpus() -> None:
    CountsFastPath.taken = 0
    for path in CASES:
        expected, body = load(path)
        await replay([body], expected.get("profile", "default"), CountsFastPath)
    assert CountsFastPath.taken >= 40


async def check_both_paths(pieces: list[bytes], profile: str = "default") -> None:
    fast_events: list[LiveEvent] = []
    plain_events: list[LiveEvent] = []
    fast = await replay(pieces, profile, Assembly, fast_events.append)
    plain = await replay(pieces, profile, WithoutFastPath, plain_events.append)
    assert fast_events == plain_events
    if isinstance(fast, ModelError):
        assert isinstance(plain, ModelError)
        assert (fast.code, fast.message, fast.partial) == (plain.code, plain.message, plain.partial)
    else:
        assert fast == plain
