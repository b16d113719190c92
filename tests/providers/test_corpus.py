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
from windlass.core.ports import DraftCall, Reply
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


async def replay(pieces: Iterable[bytes], profile: str = "default") -> Reply | ModelError:
    finish_words = next(one.finish for one in PROFILES if one.name == profile)
    assembly = Assembly(TOOLS, lambda heard: None, provider="p1", finish_words=finish_words)
    late: list[TimeoutError] = []
    deadline = Deadline(QUICK, late.append)
    try:
        await read_answer(Memory(pieces), assembly, deadline)
        return assembly.reply()
    except ModelError as error:
        return error
    finally:
        deadline.over()
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
