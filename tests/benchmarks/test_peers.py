"""Peers are measured at the same work, and one that fails costs the run no more than its own figure."""

import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from benchmarks.load import Sample
from benchmarks.peers.compared import Beside, fewer, resident, slower, started
from benchmarks.peers.environments import PEERS, PINS, NotInstalled, Spec, python_of
from benchmarks.peers.subject import Peer, PeerFailed, open_all
from benchmarks.processes import ROOT
from benchmarks.report import table
from benchmarks.subjects import Stage
from benchmarks.turns import FLOOR, interleaved

DRIVERS = "tests.benchmarks.drivers"


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = Stage(tmp_path / "stage")
    yield made
    for peer in made.peers:
        peer.close()
    made.close()


async def peer_of(stage: Stage, name: str) -> Peer:
    peer = Peer(Spec(name, "library: no store", DRIVERS))
    stage.peers = [*stage.peers, peer]
    await peer.open(Path(sys.executable), stage.stub.port, stage.folder(name))
    return peer


async def test_a_driver_is_heard_through_what_its_peer_prints_and_is_measured_itself(stage: Stage) -> None:
    peer = await peer_of(stage, "diligent")
    sample = await peer.turns("s1", 6, at_once=3)
    assert len(sample.ms) == 6
    assert sample.cpu_s > 0
    assert peer.name.startswith("diligent ") and peer.name != "diligent "
    assert "words of its own" in peer.log.read_text()


async def test_a_peer_stands_in_the_table_with_what_it_leaves_out_and_its_ratio(stage: Stage) -> None:
    peer = await peer_of(stage, "diligent")
    found = await interleaved([stage.floor("normal"), peer], 2, lambda subject: subject.turns("s1", 2))
    beside = Beside(FLOOR, FLOOR, found)
    rows = [
        *slower("S1", [peer], beside, milliseconds),
        *fewer("S4", ", 50 at once", [peer], beside),
        *await resident([peer], 1),
        *started([peer]),
    ]
    assert not [row for row in rows if row.absent]
    figure, ratio, crowd, crowd_ratio, memory, _ = rows
    assert figure.subject == peer.name and "library: no store" in figure.note
    assert ratio.what == "diligent / floor server normal" and "x by processor time; " in ratio.note
    assert ratio.note.endswith(" x floor") and crowd_ratio.note.startswith("floor ")
    assert crowd.what == f"{peer.name}, 50 at once" and crowd_ratio.what == "floor server normal / diligent, 50 at once"
    assert memory.unit == "MB RSS"


@pytest.mark.parametrize(
    ("name", "why"),
    [("lazy", "WrongAnswer: bench:s1:"), ("broken", "its driver went away: ImportError: cannot import name 'Agent'")],
)
async def test_a_peer_that_fails_has_a_row_with_the_reason_and_the_others_their_figures(
    stage: Stage, name: str, why: str
) -> None:
    peer = await peer_of(stage, name)
    found = await interleaved([stage.floor("normal"), peer], 2, lambda subject: subject.turns("s1", 2))
    assert list(found) == [FLOOR] and len(found[FLOOR]) == 2
    beside = Beside(FLOOR, FLOOR, found)
    rows = [*slower("S1", [peer], beside, milliseconds), *fewer("S4", "", [peer], beside)]
    rows += await resident([peer], 1)
    assert len(rows) == 3
    for row, line in zip(rows, [line for line in table(rows).splitlines() if name in line], strict=True):
        assert row.absent and row.met is None and why in row.note
        assert " - " in line and why in line


async def test_a_peer_that_never_answers_is_given_up_and_ended(stage: Stage) -> None:
    peer = await peer_of(stage, "stuck")
    peer.patience_s = 0.1
    with pytest.raises(PeerFailed, match=r"no answer within 0\.1 s"):
        await peer.turns("s1", 1)
    assert peer.child and peer.child.process.poll() is not None


async def test_a_peer_without_an_environment_is_told_and_not_started(stage: Stage) -> None:
    (peer,) = await open_all([Spec("nobody", "")], stage.stub.port, stage.folder)
    assert peer.failed == "not installed: no pins at nobody.txt"
    assert peer.child is None


def test_an_environment_is_filled_once_and_again_when_its_pins_change(tmp_path: Path) -> None:
    spec, calls = prepare(tmp_path, "exit 0")
    for pins in ("one==1", "one==1", "one==2"):
        (tmp_path / "pins" / "someone.txt").write_text(pins)
        assert python_of(spec, tmp_path / "pins", tmp_path).exists()
    installed = [line for line in calls.read_text().splitlines() if "pip install" in line]
    assert len(installed) == 2
    assert all("--require-hashes" in line for line in installed)


def test_what_the_installer_says_is_the_reason_without_its_addresses(tmp_path: Path) -> None:
    spec, _ = prepare(tmp_path, "echo 'ERROR: no one==1 at scheme://host/simple here' >&2; exit 1")
    with pytest.raises(NotInstalled) as caught:
        python_of(spec, tmp_path / "pins", tmp_path)
    assert str(caught.value) == "ERROR: no one==1 at (address) here"
    assert not (tmp_path / "someone" / "installed").exists()


def test_every_peer_has_a_driver_and_pins() -> None:
    names = {spec.name for spec in PEERS}
    assert {path.stem for path in PINS.glob("*.in")} == {path.stem for path in PINS.glob("*.txt")} == names
    assert all((ROOT / f"{spec.module.replace('.', '/')}.py").exists() for spec in PEERS)


def prepare(folder: Path, when_installing: str) -> tuple[Spec, Path]:
    """An environment whose interpreter is a script, so that nothing is fetched."""
    (folder / "pins").mkdir()
    (folder / "pins" / "someone.txt").write_text("one==1")
    python, calls = folder / "someone" / "bin" / "python", folder / "calls"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$@" >> {calls}\ncase "$*" in *install*) {when_installing};; esac\n')
    python.chmod(0o755)
    return Spec("someone", ""), calls


def milliseconds(samples: Sequence[Sample]) -> list[float]:
    return [sample.ms[0] for sample in samples]
