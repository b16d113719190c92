"""Records the golden event logs: `make golden`. Each is a scene played on a real server, as its event stream tells it,
with the story that the server's own API tells of it. Ids, times and whatever else differs from run to run are replaced.
"""

import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.golden.scenes import SCENES
from tests.golden.stage import staged
from windlass.api.events import DURABLE

Json = dict[str, Any]
FOLDER = Path(__file__).parents[2] / "ui" / "src" / "state" / "golden"
BEGAN = datetime(2026, 1, 5, 12, tzinfo=UTC)
STEP = timedelta(milliseconds=250)
PAUSE = timedelta(seconds=17)
ASKED_FOR = {"person", "rate_limit"}  # waits that a scene sets up; on a slow machine others may last long enough
PIECE = 10  # letters of a delta; how the real ones were cut is chance
FIXED = {"took_ms": 120, "first_ms": 40, "wait_s": 0.5}
ROOT = "/golden"  # stands for the folder of the recording
SYSTEM = "You are a helpful assistant."
GROWING = {"text_delta": "text", "reasoning_delta": "text", "call_delta": "arguments"}
ID = re.compile(r"(?<![0-9a-z])([a-z]+)[-_]([0-9a-hjkmnp-tv-z]{26})(?![0-9a-z])")
CHANCE = re.compile(r'"(driver|toolset|tool_hash|digest)": "([^"]+)"')


def main(names: Sequence[str]) -> None:
    for name in names or list(SCENES):
        (FOLDER / f"{name}.json").write_text(asyncio.run(recorded(name)))


async def recorded(name: str) -> str:
    scene = SCENES[name]
    with tempfile.TemporaryDirectory() as folder:
        async with staged(Path(folder), **scene.options) as stage:
            await scene.play(stage)
            story = await stage.story()
        kept = [event for event in stage.events if event.get("for") in {None, *ASKED_FOR}]
        events = [_steady(event) for event in _timed(_recut(kept, folder))]
    return _renamed(_text(events, story).replace(f"{folder}/ledger", ROOT))


def _recut(events: Sequence[Json], folder: str) -> Iterator[Json]:
    """Deltas that follow one another are joined and cut anew; of reports of progress in a row the last is kept."""
    run: list[Json] = []
    for event in events:
        if run and not _goes_on(run[-1], event):
            yield from _cut(run, folder)
            run = []
        run.append(event)
    yield from _cut(run, folder)


def _goes_on(before: Json, event: Json) -> bool:
    same = ("type", "turn_id", "attempt", "index", "call_id")
    return event["type"] in {*GROWING, "tool_progress"} and all(before.get(name) == event.get(name) for name in same)


def _cut(run: Sequence[Json], folder: str) -> Iterator[Json]:
    if (field := GROWING.get(run[0]["type"])) is None:
        yield run[-1]
        return
    whole = "".join(event[field] for event in run).replace(f"{folder}/ledger", ROOT)
    for start in range(0, len(whole), PIECE) or [0]:
        named = {"name": run[0]["name"] if start == 0 else ""} if "name" in run[0] else {}
        yield {**run[0], **named, field: whole[start : start + PIECE]}


def _timed(events: Iterator[Json]) -> Iterator[Json]:
    """A step of time for each durable event; what passes by is stamped as the page stamps it."""
    at = BEGAN
    for event in events:
        at += STEP if event["type"] in DURABLE else timedelta()
        yield {**event, "at": at.isoformat(timespec="milliseconds").replace("+00:00", "Z")}


def _steady(event: Json) -> Json:
    fixed: Json = {name: value for name, value in FIXED.items() if event.get(name)}
    if event["type"] == "turn_started":
        fixed["settings"] = {**event["settings"], "system": SYSTEM}
    fixed |= {name: 0 for name in ("first_byte_ms", "silence_ms") if name in event}
    if event["type"] == "waiting":
        fixed["since"] = event["at"]
        fixed |= {"until": _later(event["at"], PAUSE)} if "until" in event else {}
    return {**event, **fixed}


def _later(at: str, by: timedelta) -> str:
    later = datetime.fromisoformat(at) + by
    return later.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _text(events: Sequence[Json], story: Sequence[Json]) -> str:
    """One event a line, so that a change reads well."""
    lines = ",\n".join(json.dumps(event, ensure_ascii=False) for event in events)
    told = json.dumps(story, ensure_ascii=False, indent=1)
    return f'{{\n"events": [\n{lines}\n],\n"story": {told}\n}}\n'


def _renamed(text: str) -> str:
    """Ids and hashes become numbers, counted for each kind; a call and a message carry the number of their turn."""
    return _numbered(CHANCE, _numbered(ID, re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text)))


def _numbered(pattern: "re.Pattern[str]", text: str) -> str:
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()

    def number(found: "re.Match[str]") -> str:
        kind, letters = found.groups()
        if letters not in names:
            counts[kind] += 1
            names[letters] = str(counts[kind])
        return found[0].replace(letters, names[letters])

    return pattern.sub(number, text)


if __name__ == "__main__":
    main(sys.argv[1:])
