"""The rows of the peers: each one's figure and what it leaves out, then how it stands to Windlass, round by round."""

import statistics
from collections.abc import Callable, Mapping, Sequence

from benchmarks.load import Sample
from benchmarks.peers.subject import Peer, PeerFailed
from benchmarks.rows import Row, absent, ratios, row

Figures = Callable[[Sequence[Sample]], list[float]]
Rounds = Mapping[str, Sequence[Sample]]


def slower(scenario: str, peers: Sequence[Peer], found: Rounds, beside: str, figures: Figures) -> list[Row]:
    """Milliseconds: a ratio above 1 is in favour of `beside`."""
    rows: list[Row] = []
    for peer in peers:
        if peer.name in found:
            took, ours = figures(found[peer.name]), figures(found[beside])
            what = f"{peer.spec.name} / {_short(beside)}"
            rows.append(row(scenario, peer.name, took, "ms", note=_note(peer, found), subject=peer.name))
            rows.append(row(scenario, what, ratios(took, ours), "x", note=_by_cpu(found[peer.name], found[beside])))
        else:
            rows.append(absent(scenario, peer.name, peer.failed, peer.name))
    return rows


def fewer(scenario: str, suffix: str, peers: Sequence[Peer], found: Rounds, beside: str) -> list[Row]:
    """Turns per second: again, above 1 is in favour of `beside`."""
    rows: list[Row] = []
    for peer in peers:
        what = f"{peer.name}{suffix}"
        if peer.name in found:
            speed, ours = _per_second(found[peer.name]), _per_second(found[beside])
            rows.append(row(scenario, what, speed, "turns/s", note=_note(peer, found), subject=peer.name))
            rows.append(row(scenario, f"{_short(beside)} / {peer.spec.name}{suffix}", ratios(ours, speed), "x"))
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


def _note(peer: Peer, found: Rounds) -> str:
    cpu = statistics.median(sample.cpu_us for sample in found[peer.name])
    return f"{cpu:.0f} us CPU a turn; {peer.spec.leaves_out}"


def _by_cpu(theirs: Sequence[Sample], ours: Sequence[Sample]) -> str:
    by_round = [they.cpu_us / we.cpu_us for they, we in zip(theirs, ours, strict=True) if we.cpu_us]
    return f"{statistics.median(by_round):.1f} x by processor time" if by_round else ""


def _per_second(samples: Sequence[Sample]) -> list[float]:
    return [sample.per_second for sample in samples]


def _short(name: str) -> str:
    return name.replace(",", "")
