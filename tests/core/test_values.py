"""Values."""

from dataclasses import replace

from windlass.core.messages import Usage


def test_the_type_checker_lets_nobody_write_to_a_value() -> None:
    used = Usage(3)
    used.prompt = 4  # type: ignore[misc]  # were this allowed, `make lint` would say that nothing is left to ignore
    assert not hasattr(used, "__dict__")


def test_values_with_the_same_fields_are_the_same_also_as_keys() -> None:
    assert Usage(3) == Usage(3) != Usage(4)
    assert {Usage(3), Usage(3), replace(Usage(4), prompt=3)} == {Usage(3)}
