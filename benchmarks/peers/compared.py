"""The rows of the peers: each one's figure and what it leaves out, then how it stands to Windlass, round by round."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.load import Sample
from benchmarks.peers.subject import Peer, PeerFailed
from benchmarks.report import number
from benchmarks.rows import Row, absent, ratios, row

Figures = Callable[[Sequence[Sample]], list[float]]


@dataclass(frozen=True, slots=True)
class Beside:
    """Whom the peers are held against, by name, in the same rounds."""

    windlass: str
    floor: str
    rounds: Mapping[str, Sequence[Sample]]


def slower(scenario: str, peers: Sequence[Peer], beside: Beside, figures: Figures) -> list[Row]:
    """Milliseconds: a ratio above 1 is in favour of Windlass."""
    rows: list[Row] = []
    for peer in peers:
        if theirs := beside.rounds.get(peer.name):
            took, ours = figures(theirs), figures(beside.rounds[beside.windlass])
            what = f"{peer.spec.name} / {_short(beside.windlass)}"
            least = statistics.median(ratios(took, figures(beside.rounds[beside.floor])))
            note = f"{_by_cpu(theirs, beside.rounds[beside.windlass])} x by processor time; {number(least)} x floor"
            rows.append(row(scenario, peer.name, took, "ms", note=_note(peer, theirs), subject=peer.name))
            rows.append(row(scenario, what, ratios(took, ours), "x", note=note))
        else:
            rows.append(absent(scenario, peer.name, peer.failed, peer.name))
    return rows


def fewer(scenario: str, suffix: str, peers: Sequence[Peer], beside: Beside) -> list[Row]:
    """Turns per second: again, above 1 is in favour of Windlass."""
    rows: list[Row] = []
    for peer in peers:
        what = f"{peer.name}{suffix}"
        if theirs := beside.rounds.get(peer.name):
            speed, ours = _per_second(theirs), _per_second(beside.rounds[beside.windlass])
            most = statistics.median(ratios(_per_second(beside.rounds[beside.floor]), speed))
            ratio = f"{_short(beside.windlass)} / {peer.spec.name}{suffix}"
            rows.append(row(scenario, what, speed, "turns/s", note=_note(peer, theirs), subject=peer.name))
            rows.append(row(scenario, ratio, ratios(ours, speed), "x", note=f"floor {number(most)} x"))
        else:
            rows.append(absent(scenario, what, peer.failed, peer.name))
    return rows


async def resident(peers: Sequence[Peer], turns: int) -> list[Row]:
    """After turns, at rest; the peer's own process, as with Windlass."""
    rows: list[Row] = []
    for peer in peers:
        try:
            await peer.turns("s1", turns)
            assert peer.child
            rows.append(row("memory", f"{peer.name}, one MCP server", [peer.child.rss_mb], "MB RSS"))
        except PeerFailed as error:
            rows.append(absent("memory", peer.name, str(error)))
    return rows


def started(peers: Sequence[Peer]) -> list[Row]:
    return [
        row("start", f"{peer.name}, to its MCP server ready", [peer.start_s], "s", note="once, with its imports")
        if peer.start_s
        else absent("start", peer.name, peer.failed)
        for peer in peers
    ]


def _note(peer: Peer, samples: Sequence[Sample]) -> str:
    cpu = statistics.median(sample.cpu_us for sample in samples)
    return f"{cpu:.0f} us CPU a turn; {peer.spec.leaves_out}"


def _by_cpu(theirs: Sequence[Sample], ours: Sequence[Sample]) -> str:
    return number(statistics.median(ratios([they.cpu_us for they in theirs], [we.cpu_us for we in ours])))


def _per_second(samples: Sequence[Sample]) -> list[float]:
    return [sample.per_second for sample in samples]


def _short(name: str) -> str:
    return name.replace(",", "")
