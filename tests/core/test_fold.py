"""A turn as its log leaves it."""

import sys
from types import FrameType

from tests.core.memory import started
from windlass.core.events import ModelReplied
from windlass.core.fold import fold
from windlass.core.messages import Usage

REPLIES = [ModelReplied("", usage=Usage(1, 20, 300, 4000)), ModelReplied("done", usage=Usage(5, 60, 700, 8000))]


def test_what_a_turn_used_is_the_sum_of_its_replies() -> None:
    assert fold([started(), *REPLIES]).usage == Usage(6, 80, 1000, 12000)
    assert fold([started()]).usage == Usage()


def test_the_sum_takes_no_call_for_each_reply() -> None:
    view = fold([started(), *REPLIES])
    entered: list[str] = []

    def note(frame: FrameType, what: str, _: object) -> None:
        if what == "call":
            entered.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        _ = view.usage
    finally:
        sys.setprofile(None)
    assert entered == ["usage", "__init__"]
