"""Three unchanged clients, straight and through Windlass; `make proof PART=clients` runs all nine."""

from pathlib import Path

import pytest

from tests.clients.compare import HERE, OPENAI, OPENAI_NPM, ZAI, Client, both_ways, failures


@pytest.mark.parametrize("client", [OPENAI, ZAI, OPENAI_NPM], ids=lambda client: client.driver)
async def test_a_client_gets_through_windlass_what_it_gets_straight(client: Client, tmp_path: Path) -> None:
    straight, through = await both_ways(client, tmp_path / "home", HERE)
    assert failures(straight) == {} and len(straight) >= 4
    assert through == straight
