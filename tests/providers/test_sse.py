"""The event parser: any framing, any pieces, bounded memory, linear time."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.cpu import linear
from windlass.providers.sse import EventStream, LineTooLong

LINE = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=30).map(str.encode)
EVENT = st.lists(LINE, min_size=1, max_size=3)


def parsed(*pieces: bytes, cap: int = 1000) -> list[bytes]:
    stream = EventStream(cap)
    return [event for piece in pieces for event in stream.feed(piece)] + stream.close()


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b": comment\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\n", [b"a"]),
        (b"data:  two spaces\n\n", [b" two spaces"]),
        (b"data: last", [b"last"]),
        (b"data: last\n", [b"last"]),
        (b"data:\n\n", [b""]),
        (b"data\n\ndatabase: x\n\n", []),
        (b"\n\n\n\n", []),
        (b"", []),
    ],
)
def test_framing(stream: bytes, events: list[bytes]) -> None:
    assert parsed(stream) == events
    assert parsed(*(stream[at : at + 1] for at in range(len(stream)))) == events


@given(st.lists(EVENT, max_size=6), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data())
def test_events_come_out_as_they_went_in_however_the_stream_is_torn(
    events: list[list[bytes]], newline: bytes, data: st.DataObject
) -> None:
    stream = b"".join(b"".join(b"data: " + line + newline for line in event) + newline for event in events)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[start:stop] for start, stop in pairwise([0, *cuts, len(stream)])]
    assert parsed(*pieces) == [b"\n".join(event) for event in events]


@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"data: ", b"\n", b"\r", b"\r\n", b":", b"\xef\xbb\xbf"])))
def test_no_bytes_crash_it_and_tearing_changes_nothing(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    assert parsed(*pieces) == parsed(whole) == parsed(*(whole[at : at + 1] for at in range(len(whole))))


def test_a_line_without_end_is_refused_before_it_fills_the_memory() -> None:
    stream = EventStream(cap=100)
    stream.feed(b"data: " + b"x" * 90)
    with pytest.raises(LineTooLong):
        stream.feed(b"x" * 90)


def test_an_event_without_end_is_refused_too() -> None:
    stream = EventStream(cap=100)
    with pytest.raises(LineTooLong):
        for _ in range(100):
            stream.feed(b"data: xxxxxxxx\n")


def test_a_long_line_in_small_pieces_takes_linear_time() -> None:
    stream = EventStream(cap=1 << 30)
    stream.feed(b"data: ")
    with linear():
        for _ in range(200_000):
            stream.feed(b"x" * 100)
        [event] = stream.feed(b"\n\n")
    assert event == b"x" * 20_000_000
