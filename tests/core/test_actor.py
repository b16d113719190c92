"""Who is asking, as it is written down."""

from windlass.core.actor import acting_as, current_actor


def test_the_name_holds_for_the_request_and_no_longer() -> None:
    with acting_as("laptop"):
        inside = current_actor()
    assert (inside, current_actor()) == ("laptop", "person")
