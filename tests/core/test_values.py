"""Values."""

import subprocess
import sys
from dataclasses import FrozenInstanceError, replace

import pytest

from windlass.core.messages import Usage

WRITE = "from windlass.core.messages import Usage; used = Usage(3); used.prompt = 4; print(used.prompt)"


def test_nobody_can_write_to_a_value_under_pytest() -> None:
    used = Usage(3)
    with pytest.raises(FrozenInstanceError):
        used.prompt = 4  # type: ignore[misc]  # the type checker objects too, or nothing would be left to ignore
    assert used.prompt == 3
    assert not hasattr(used, "__dict__")


@pytest.mark.parametrize(("env", "outcome"), [({"WINDLASS_FROZEN": "1"}, "FrozenInstanceError"), ({}, "4")])
def test_a_process_that_a_test_starts_may_ask_for_frozen_values(env: dict[str, str], outcome: str) -> None:
    env = {"PYTHONPATH": ":".join(sys.path), **env}
    done = subprocess.run([sys.executable, "-c", WRITE], env=env, capture_output=True, text=True, check=False)
    assert outcome in done.stdout + done.stderr


def test_values_with_the_same_fields_are_the_same_also_as_keys() -> None:
    assert Usage(3) == Usage(3) != Usage(4)
    assert {Usage(3), Usage(3), replace(Usage(4), prompt=3)} == {Usage(3)}
