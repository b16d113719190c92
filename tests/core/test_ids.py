"""Ids sort by time and say where they belong."""

from windlass.core.ids import call_id, new_id


def test_ids_sort_in_the_order_they_were_made() -> None:
    made = [new_id("turn") for _ in range(3)]
    assert all(id.startswith("turn-") and len(id) == 31 for id in made)
    assert len(set(made)) == 3
    assert sorted(id[:15] for id in made) == [id[:15] for id in made]


def test_a_call_id_follows_from_its_place_and_fits_every_wire() -> None:
    turn = new_id("turn")
    assert call_id(turn, 10, 127) == call_id(turn, 10, 127)
    assert len(call_id(turn, 10, 127)) <= 40
