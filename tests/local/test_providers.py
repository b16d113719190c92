"""What a model is given: its times."""

from windlass.config import Limits
from windlass.local.providers import patience_of


def test_models_get_the_seeds_times_unless_the_operator_says_otherwise() -> None:
    usual = patience_of(Limits())
    assert (usual.connect_s, usual.first_byte_s, usual.silence_s) == (60, 240, 240)
    assert patience_of(Limits(first_byte_s=5)).first_byte_s == 5
