"""Times of other programs: read where they can be believed."""

import time

import pytest

from windlass.services.imports import moment, spans

MARCH = 1677679500.0  # 2023-03-01 14:05 UTC


@pytest.mark.parametrize(
    "given",
    [{"timestamp": "2023-03-01T14:05:00.000Z"}, {"created_at": "2023-03-01T15:05:00+01:00"},
     {"createdAt": "2023-03-01T14:05:00"}, {"create_time": MARCH}, {"timestamp": int(MARCH)},
     {"timestamp": MARCH * 1000}, {"timestamp": None, "created_at": MARCH}],
)  # fmt: skip
def test_a_time_is_read_however_it_is_written(given: dict[str, object]) -> None:
    assert moment(given) == MARCH


@pytest.mark.parametrize(
    "value",
    [None, True, "", "yesterday", "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+23:59", 0, -5, [], {},
     float("nan"), float("inf"), pytest.param(10**400, id="huge"), pytest.param(time.time() + 86400, id="tomorrow")],
)  # fmt: skip
def test_a_time_that_cannot_be_is_none(value: object) -> None:
    assert moment({"timestamp": value}) == 0


def test_a_turn_without_a_time_is_put_after_the_one_before_it() -> None:
    assert spans([[0], [5, 0, 7], [0, 0], [9, 8]], 99) == [(5, 5), (5, 7), (7, 7), (9, 9)]
    assert spans([[0], [0]], 99) == [(99, 99), (99, 99)]
