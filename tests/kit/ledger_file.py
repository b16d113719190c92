"""The ledger from the test's side: the server's command, its gates, and what the file says really happened."""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kit.waiting import until

SERVER = Path(__file__).with_name("ledger_server.py")


@dataclass(frozen=True, slots=True)
class Effect:
    """One run of a tool. `ended` is None if it never came to its end; times are the machine's monotonic clock."""

    effect_id: str | None
    tool: str
    started: float
    ended: float | None
    cancelled: bool
    meta: Mapping[str, Any]
    pid: int


@dataclass(frozen=True, slots=True)
class Ledger:
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "ledger.jsonl"

    def argv(self, *options: str) -> list[str]:
        """The command of a server that writes to this ledger; see `ledger_server.py --help` for options."""
        return [sys.executable, "-S", "-E", str(SERVER), "--ledger", str(self.path), *options]

    def library(self, **held: object) -> str:
        """The file for `--library`: what the server offers besides tools, as `ledger/library.py` says. Written again,
        it is what the server offers from then on."""
        path = self.folder / "library.json"
        path.write_text(json.dumps(held))
        return str(path)

    def gate(self, name: str = "gate") -> str:
        """A path for a tool's `gate` argument."""
        return str(self.folder / name)

    def open(self, name: str = "gate") -> None:
        Path(self.gate(name)).touch()

    def events(self) -> list[dict[str, Any]]:
        lines = self.path.read_text().split("\n")[:-1] if self.path.exists() else []  # the last may be half written
        return [json.loads(line) for line in lines]

    def effects(self) -> list[Effect]:
        """In the order of their starts."""
        events = self.events()
        closings = {(e["pid"], e["call"], e["event"]): e["at"] for e in events if e["event"] in ("ended", "cancelled")}
        return [
            Effect(
                event["effect_id"],
                event["tool"],
                event["at"],
                closings.get((event["pid"], event["call"], "ended")),
                (event["pid"], event["call"], "cancelled") in closings,
                event["meta"],
                event["pid"],
            )
            for event in events
            if event["event"] == "started"
        ]

    def counts(self) -> Counter[str | None]:
        """How often each effect was begun: for an unsafe tool more than once is a broken promise."""
        return Counter(effect.effect_id for effect in self.effects())

    def most_at_once(self) -> int:
        """The largest number of effects that were under way at the same moment."""
        effects = self.effects()
        return max((sum(_covers(other, effect.started) for other in effects) for effect in effects), default=0)

    def pids(self) -> list[int]:
        """One for each time a server was started on this ledger."""
        return [event["pid"] for event in self.events() if event["event"] == "born"]

    async def seen(self, event: str, effect_id: str | None = None, times: int = 1) -> None:
        """Wait until the server has written this event (`born`, `started`, `ended`, `cancelled`, `answered`, ...)."""

        def enough() -> bool:
            found = [e for e in self.events() if e["event"] == event and effect_id in (None, e.get("effect_id"))]
            return len(found) >= times

        await until(enough, f"{times} x {event} {effect_id or ''} in the ledger")


def _covers(effect: Effect, moment: float) -> bool:
    return effect.started <= moment and (effect.ended is None or moment < effect.ended)
