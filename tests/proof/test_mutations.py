"""Breaking the product on purpose is noticed."""

from pathlib import Path

import pytest

from tests.proof.figures import FULL, note
from tests.proof.mutations import MUTATIONS, SOURCE, Mutation, break_on_purpose, caught

CHOSEN = [mutation for mutation in MUTATIONS if FULL or mutation.cheap]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_place_to_break_is_still_there(mutation: Mutation, tmp_path: Path) -> None:
    file = tmp_path / "windlass" / mutation.file
    file.parent.mkdir(parents=True)
    file.write_text((SOURCE / "windlass" / mutation.file).read_text())
    break_on_purpose(mutation, tmp_path)
    broken = file.read_text()
    compile(broken, str(file), "exec")
    assert mutation.old not in broken or mutation.old in mutation.new


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutation", CHOSEN, ids=lambda mutation: mutation.name)
def test_breaking_it_on_purpose_is_noticed(mutation: Mutation) -> None:
    assert caught(mutation) == []
    note("mutations", count=1)
