"""How many lines that are no messages a program may write: a rate, counted here with times of our own."""

from windlass.servers.stdio import MOST_STRAY, STRAY_WITHIN_S, StrayLines

APART_S = STRAY_WITHIN_S / (MOST_STRAY - 1)  # so far apart, exactly the last of `MOST_STRAY` lies within the span


def test_b6_a_burst_is_too_many_even_with_good_messages_in_between() -> None:
    stray = StrayLines()
    for number in range(MOST_STRAY - 1):
        assert not stray.add(number * APART_S * 0.99)
        stray.good_message()
    assert stray.add(STRAY_WITHIN_S * 0.99)


def test_b6_a_steady_trickle_beside_good_messages_never_is() -> None:
    stray = StrayLines()
    for number in range(10 * MOST_STRAY):
        assert not stray.add(number * APART_S * 1.01)
        stray.good_message()
    assert stray.count == 10 * MOST_STRAY


def test_b6_lines_without_one_good_message_are_too_many_however_slow() -> None:
    stray = StrayLines()
    for number in range(MOST_STRAY - 1):
        assert not stray.add(number * 60.0)
    assert stray.add(MOST_STRAY * 60.0)


def test_b6_one_good_message_begins_the_count_anew() -> None:
    stray = StrayLines()
    for number in range(MOST_STRAY - 1):
        stray.add(number * 60.0)
    stray.good_message()
    assert not any(stray.add((MOST_STRAY + number) * 60.0) for number in range(MOST_STRAY - 1))
    assert stray.add(2 * MOST_STRAY * 60.0)


def test_b6_a_burst_long_ago_does_not_count() -> None:
    stray = StrayLines()
    assert not any(stray.add(0.0) for _ in range(MOST_STRAY - 1))
    stray.good_message()
    assert not any(stray.add(STRAY_WITHIN_S + 1) for _ in range(MOST_STRAY - 1))
