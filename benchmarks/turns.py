"""S1 to S4 and the long conversation: turns with tools, Windlass and the floors interleaved."""

import statistics
from collections.abc import Awaitable, Callable, Sequence

from benchmarks.load import Sample
from benchmarks.peers.compared import Beside, fewer, slower
from benchmarks.peers.subject import Peer, PeerFailed
from benchmarks.rows import Row, ratios, row
from benchmarks.subjects import Server, Stage, Subject

FLOOR, FLOOR_FULL = "floor, server, normal", "floor, server, full"
NORMAL, FULL = "Windlass, normal", "Windlass, full"
PEER_TURNS, PEER_CROWD = 15, 100  # they take as long for these as Windlass for many more

Rounds = dict[str, list[Sample]]


async def s1(stage: Stage, quick: bool) -> list[Row]:
    rounds, turns = (3, 20) if quick else (9, 50)
    subjects: list[Subject] = [stage.library("normal"), stage.floor("normal"), await stage.windlass("normal")]
    subjects += [stage.library("full"), stage.floor("full"), await stage.windlass("full"), *stage.peers]
    found = await interleaved(subjects, rounds, _asked(turns, 1, PEER_TURNS))
    ours = _without_peers(found, stage)
    ms = {name: _medians(samples) for name, samples in ours.items()}
    return [
        *(row("S1", name, values, "ms", note=_cpu(found[name]), subject=name) for name, values in ms.items()),
        row("S1", "Windlass normal / floor server normal", ratios(ms[NORMAL], ms[FLOOR]), "x", limit=3),
        row("S1", "Windlass full / floor server normal", ratios(ms[FULL], ms[FLOOR]), "x", limit=4),
        row("S1", "Windlass full / floor server full", ratios(ms[FULL], ms[FLOOR_FULL]), "x"),
        *slower("S1", stage.peers, Beside(NORMAL, FLOOR, found), _medians),
    ]


async def s2(stage: Stage, quick: bool) -> list[Row]:
    rounds, turns = (1, 3) if quick else (3, 5)
    subjects: list[Subject] = [stage.floor("normal"), await stage.windlass("normal"), await stage.windlass("full")]
    found = await interleaved([*subjects, *stage.peers], rounds, lambda subject: subject.turns("s2", turns))
    limits = {NORMAL: 215.0, FULL: 215.0}
    rows = [
        row("S2", name, _medians(samples), "ms", limit=limits.get(name), subject=name)
        for name, samples in _without_peers(found, stage).items()
    ]
    return [*rows, *slower("S2", stage.peers, Beside(NORMAL, FLOOR, found), _medians)]


async def s3(stage: Stage, quick: bool) -> list[Row]:
    """The clock starts with the second turn, as in a conversation that goes on. S1 is measured beside it."""
    rounds, count = (3, 5) if quick else (7, 15)
    floor, normal = stage.floor("normal"), await stage.windlass("normal")
    bare: list[float] = []
    first: dict[str, list[float]] = {FLOOR: [], NORMAL: []}
    second: dict[str, list[float]] = {FLOOR: [], NORMAL: []}
    for _ in range(rounds):
        for server in (floor, normal):
            conversations = await server.conversations(count, 194)
            first[server.name].append(_middle(await server.turns_in("s1", conversations)))
            second[server.name].append(_middle(await server.turns_in("s1", conversations)))
        bare.append(_middle(await normal.turns("s1", count)))
    more = [with_past - without for with_past, without in zip(second[NORMAL], bare, strict=True)]
    return [
        row("S3", FLOOR, second[FLOOR], "ms"),
        row("S3", NORMAL, second[NORMAL], "ms", note=_times(second[NORMAL], second[FLOOR])),
        row("S3", "Windlass normal, over its S1", more, "ms", limit=1),
        row("S3", "Windlass normal, first turn after an import", first[NORMAL], "ms"),
    ]


async def s4(stage: Stage, quick: bool) -> list[Row]:
    rounds, turns = (2, 200) if quick else (5, 500)
    subjects: list[Subject] = [stage.floor("normal"), await stage.windlass("normal"), await stage.windlass("full")]
    rows: list[Row] = []
    for at_once, limit, peers in ((50, 500.0, stage.peers), (200, None, ())):
        found = await interleaved([*subjects, *peers], rounds, _asked(turns, at_once, PEER_CROWD))
        suffix = f", {at_once} at once"
        speeds = {name: [one.per_second for one in ours] for name, ours in _without_peers(found, stage).items()}
        for name, speed in speeds.items():
            least = limit if name in (NORMAL, FULL) else None
            what, note = f"{name}{suffix}", _cpu(found[name])
            rows.append(row("S4", what, speed, "turns/s", limit=least, at_least=True, note=note, subject=name))
        for name in (NORMAL, FULL):
            rows.append(row("S4", f"{FLOOR} / {name}{suffix}", ratios(speeds[FLOOR], speeds[name]), "x"))
        rows += fewer("S4", suffix, peers, Beside(NORMAL, FLOOR, found))
    return rows


async def long(stage: Stage, quick: bool) -> list[Row]:
    """10,000 messages: all in the prompt, against the floor; then with a window of 200, which should cost what a
    conversation of 200 costs."""
    turns = 3 if quick else 9
    floor, normal = stage.floor("normal"), await stage.windlass("normal")
    whole = {server.name: await _after_first(server, 10_000, turns) for server in (floor, normal)}
    of_many = await _after_first(normal, 10_000, turns, window=200)
    of_few = await _after_first(normal, 200, turns, window=200)
    more = [statistics.median(of_many) - statistics.median(of_few)]
    return [
        row("long", "floor, server, normal, all of 10,000", whole[FLOOR], "ms"),
        row("long", "Windlass, normal, all of 10,000", whole[NORMAL], "ms", note=_times(whole[NORMAL], whole[FLOOR])),
        row("long", "Windlass, normal, 200 of 10,000", of_many, "ms"),
        row("long", "Windlass, normal, 200 of 200", of_few, "ms"),
        row("long", "what the unsent 9,800 cost", more, "ms", limit=1),
    ]


async def _after_first(server: Server, prior: int, turns: int, window: int | None = None) -> list[float]:
    (conversation,) = await server.conversations(1, prior)
    if window:
        await server.json("PATCH", f"/conversations/{conversation}", {"max_messages": window})
    await server.turns_in("s1", [conversation])
    return list((await server.turns_in("s1", [conversation] * turns)).ms)


async def interleaved(subjects: Sequence[Subject], rounds: int, job: Callable[[Subject], Awaitable[Sample]]) -> Rounds:
    """Everyone once, round after round. The turns before the first round warm all of them and do not count. A peer that
    fails on the way has no figures; anyone else's failure ends the run."""
    found: Rounds = {subject.name: [] for subject in subjects}
    for subject in subjects:
        await _attempt(subject, lambda subject: subject.turns("s1", 20))
    for _ in range(rounds):
        for subject in subjects:
            if sample := await _attempt(subject, job):
                found[subject.name].append(sample)
    return {name: samples for name, samples in found.items() if len(samples) == rounds}


async def _attempt(subject: Subject, job: Callable[[Subject], Awaitable[Sample]]) -> Sample | None:
    try:
        return await job(subject)
    except PeerFailed:
        return None  # it keeps the reason for its row


def _asked(turns: int, at_once: int, most_of_a_peer: int) -> Callable[[Subject], Awaitable[Sample]]:
    def ask(subject: Subject) -> Awaitable[Sample]:
        count = min(turns, most_of_a_peer) if isinstance(subject, Peer) else turns
        return subject.turns("s1", count, at_once)

    return ask


def _without_peers(found: Rounds, stage: Stage) -> Rounds:
    peers = {peer.name for peer in stage.peers}
    return {name: samples for name, samples in found.items() if name not in peers}


def _middle(sample: Sample) -> float:
    return statistics.median(sample.ms)


def _medians(samples: Sequence[Sample]) -> list[float]:
    return [_middle(sample) for sample in samples]


def _cpu(samples: Sequence[Sample]) -> str:
    return f"{statistics.median(sample.cpu_us for sample in samples):.0f} us CPU a turn"


def _times(values: Sequence[float], floor: Sequence[float]) -> str:
    return f"{statistics.median(ratios(values, floor)):.1f}x floor"
