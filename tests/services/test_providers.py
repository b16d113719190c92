"""What a model is given: its times."""

from windlass.config import LimitSettings
from windlass.services.providers import patience_of


def test_models_get_the_seeds_times_unless_the_operator_says_otherwise() -> None:
    usual = patience_of(LimitSettings())
    assert (usual.connect_s, usual.first_byte_s, usual.silence_s) == (60, 240, 240)
    assert patience_of(LimitSettings(first_byte_s=5)).first_byte_s == 5
