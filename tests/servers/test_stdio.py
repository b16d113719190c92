"""The program and its lines: any chunking gives the same lines, in linear time, and a line over the cap is never held
in memory."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.cpu import linear
from tests.kit.waiting import until
from windlass.servers import stdio
from windlass.servers.orphan_guard import OrphanGuard
from windlass.servers.stdio import LineBuffer, StdioProcess, stalls
from windlass.servers.values import LongLine


def cut(chunks: list[bytes], cap: int = 1000) -> tuple[list[bytes], list[LongLine], LineBuffer]:
    short: list[bytes] = []
    long: list[LongLine] = []
    reader = LineBuffer(cap, short.append, long.append)
    for chunk in chunks:
        reader.feed(chunk)
    return short, long, reader


@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=20), st.data())
def test_any_chunking_gives_the_same_lines(wanted: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in wanted)
    chunks = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        chunks.append(stream[:size])
        stream = stream[size:]
    short, long, _ = cut(chunks)
    assert short == wanted and long == []


@pytest.mark.parametrize("size", [11, 100, 5000])
def test_a_line_over_the_cap_goes_to_a_file_and_the_next_is_read(size: int) -> None:
    body = bytes(n % 90 + 33 for n in range(size))
    short, (long,), _ = cut([body[:7], body[7:] + b"\nnext\n"], cap=10)
    assert short == [b"next"] and long.size == size
    assert long.head == body[:4096] and long.tail == body[-4096:]
    assert long.file is not None
    with long.file as file:
        file.seek(0)
        assert file.read() == body


def test_a_line_longer_than_is_kept_leaves_only_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "KEEP_CAP", 100)
    _, (long,), _ = cut([b"a" * 90, b"b" * 90, b"c\n"], cap=10)
    assert long.file is None and long.size == 181 and long.tail.endswith(b"bc")


def test_a_line_that_never_ends_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "ENDLESS", 100)
    _, _, reader = cut([b"x" * 60], cap=10)
    before = reader.endless
    reader.feed(b"x" * 60)
    assert (before, reader.endless) == (False, True)
    reader.close()


def test_time_grows_with_the_length_of_a_line_and_not_with_its_square() -> None:
    with linear():
        short, _, _ = cut([b"x" * 512] * 65536 + [b"\n"], cap=1 << 30)
    assert len(short[0]) == 32 << 20


def test_what_would_hold_up_the_loop_is_known_by_its_tokens() -> None:
    assert stalls(b'{"a":"b"},' * 400_000)
    assert stalls(b"[]," * 400_000)
    assert not stalls(b'{"text":"' + b"x" * 4_000_000 + b'"}')
    assert not stalls(b'{"text":"' + b'\\"a\\": 1, ' * 400_000 + b'"}')


async def test_a_kill_for_what_came_before_the_start_was_over_is_not_forgotten() -> None:
    orphan_guard = OrphanGuard()
    process = StdioProcess(
        [sys.executable, "-S", "-c", "import sys; sys.stdin.read()"],
        env={},
        line_cap=1 << 20,
        orphan_guard=orphan_guard,
        on_line=lambda line: None,
        on_long=lambda line: None,
        on_end=lambda: None,
    )
    process.kill()
    await process.start()
    await until(lambda: process.returncode is not None, "its end")
    assert process.returncode == -9
    await process.stop()
    orphan_guard.close()
