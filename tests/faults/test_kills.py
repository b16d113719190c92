"""kill -9 of the real server in the middle of a real turn. Afterwards nothing acknowledged is lost, nothing unsafe was
done twice, nothing needs repair, every watcher's transcript is the log, and a strict model server takes the next
request."""

import json
from pathlib import Path

import pytest

from tests.faults.killing import MORE_POINTS, POINTS, Point, Scene, Script, check_survival
from tests.faults.storm import check_storm
from tests.kit.ledger_file import Ledger
from tests.kit.real_servers import through_npx
from tests.kit.windlass_process import children_of, gone
from tests.proof.figures import FULL
from windlass.testing import StrictLLM

PARALLEL = (1, 3) if FULL else (3,)
DURABILITY = ("full", "normal") if FULL else ("full",)
KILLS = 100 if FULL else 3
# Each of a kind in `make test`: accepted, the model is asked, it speaks, a call in doubt, a decision, the last commit.
CHOSEN = POINTS if FULL else tuple(POINTS[number - 1] for number in (2, 4, 6, 12, 15, 16))
SEED = 20261115


def test_there_are_sixteen_points() -> None:
    assert [point.name.partition("-")[0] for point in POINTS] == [f"K{n}" for n in range(1, 17)]


@pytest.mark.parametrize("durability", DURABILITY)
@pytest.mark.parametrize("parallel", PARALLEL)
@pytest.mark.parametrize("point", CHOSEN, ids=str)
async def test_a_turn_survives_a_kill_at(
    point: Point, parallel: int, durability: str, tmp_path: Path, ledger: Ledger
) -> None:
    await check_survival(point, parallel, durability, tmp_path, ledger)


@pytest.mark.parametrize("point", MORE_POINTS if FULL else MORE_POINTS[-1:], ids=str)
async def test_a_turn_survives_a_kill_at_a_point_of_our_own(point: Point, tmp_path: Path, ledger: Ledger) -> None:
    await check_survival(point, 3, "full", tmp_path, ledger)


@pytest.mark.timeout(60 + 12 * KILLS)
async def test_conversations_at_once_survive_kills_at_random_moments(tmp_path: Path, ledger: Ledger) -> None:
    await check_storm(tmp_path, ledger, kills=KILLS, conversations=4, seed=SEED)


async def test_no_child_is_left_after_a_kill(tmp_path: Path, ledger: Ledger) -> None:
    """Neither of a server on the standard library nor of one that npx starts, which is three processes deep."""
    async with StrictLLM(Script(1)) as llm:
        scene = Scene(tmp_path, ledger, llm)
        scene.write_settings()
        with (scene.home / "windlass.toml").open("a") as settings:
            command, *args = through_npx(tmp_path)
            settings.write(f"\n[servers.files]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n")
        server = scene.server()
        await server.start()
        await server.running("ledger", "files")
        children = children_of(server.pid)
        assert len(children) >= 4
        await server.kill()
        await gone(children)
