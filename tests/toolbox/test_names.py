"""Names: a tool's own where it can be, unique always, and the same every time."""

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from windlass.toolbox.names import offered_names

KEYS = st.lists(st.tuples(st.text(alphabet="ab_", max_size=4), st.text(max_size=80)), max_size=30)


def test_a_tool_keeps_its_own_name_unless_two_clash() -> None:
    names = offered_names([("files", "read"), ("web", "read"), ("web", "search")])
    assert names == {("files", "read"): "files__read", ("web", "read"): "web__read", ("web", "search"): "search"}


def test_a_reserved_name_counts_as_a_clash() -> None:
    assert offered_names([("web", "web_search")], reserved={"web_search"}) == {("web", "web_search"): "web__web_search"}


def test_letters_that_no_wire_accepts_are_replaced_and_stay_apart() -> None:
    names = offered_names([("s", "a.b"), ("s", "a b"), ("s", "c/d")])
    assert names["s", "c/d"] == "c_d"
    assert len(set(names.values())) == 3


def test_long_names_are_shortened_the_same_way_each_time() -> None:
    long = "x" * 100
    names = offered_names([("s", long), ("s", long + "y")])
    assert all(len(name) == 64 for name in names.values()) and len(set(names.values())) == 2
    assert offered_names([("s", long)])["s", long] == names["s", long]


@given(KEYS, st.randoms(use_true_random=False))
def test_every_name_is_valid_unique_and_independent_of_order(
    keys: list[tuple[str, str]], shuffle: random.Random
) -> None:
    names = offered_names(keys)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names.values())
    assert len(set(names.values())) == len(set(keys))
    shuffled = list(keys)
    shuffle.shuffle(shuffled)
    again = offered_names(shuffled)
    assert again == names and list(again) == list(names)


def test_a_thousand_tools_over_twenty_servers_are_named_quickly() -> None:
    keys = [(f"s{n % 20}", f"tool_{n // 40}") for n in range(1000)]
    assert len(set(offered_names(keys).values())) == len(set(keys))
