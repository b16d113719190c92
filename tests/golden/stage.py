"""A real server with a scripted model and a ledger of tools, and one watcher that keeps what the event stream sends."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import aiohttp

from tests.golden.story import story_of
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import PATIENCE_S, WindlassProcess, model_settings, windlass
from windlass.api.events import DURABLE
from windlass.testing import Reply, StrictLLM, Usage
from windlass.testing.replies import Scripted

Json = dict[str, Any]
FOUND = [
    {
        "title": "Harbour forecast",
        "link": "http://10.0.0.7/harbour",
        "content": "Rain and 7 degrees today.",
        "media": "harbour.test",
        "icon": "",
        "refer": "ref_1",
        "publish_date": "2026-02-10",
    },
    {
        "title": "Tide tables",
        "link": "http://10.0.0.8/tides",
        "content": "High water at noon.",
        "media": "tides.test",
        "icon": "",
        "refer": "ref_2",
        "publish_date": "",
    },
]


@dataclass
class Stage:
    server: WindlassProcess
    llm: StrictLLM
    ledger: Ledger
    conversation: str = ""
    events: list[Json] = field(default_factory=list)
    _watching: "asyncio.Task[None] | None" = None
    _requests: "set[asyncio.Task[Any]]" = field(default_factory=set)
    _more: asyncio.Condition = field(default_factory=asyncio.Condition)

    def script(self, *replies: Scripted) -> None:
        """Usage is fixed, since the natural one depends on how long the ids are."""
        self.llm.then(*(one.using(Usage(100, 20)) if isinstance(one, Reply) else one for one in replies))

    async def open(self, **fields: object) -> None:
        await self.follow((await self.server.post("/conversations", fields))["conversation"]["id"])

    async def follow(self, conversation_id: str) -> None:
        """Watch it, from the first event that was not seen yet."""
        await self._stop_watching()
        self.conversation = conversation_id
        await self._watch()

    async def chat(self, content: str, **more: object) -> str:
        """Begin a turn and give its id; the answer to the request itself is not of interest."""
        before = {event["turn_id"] for event in self.events}
        self._send("POST", f"/conversations/{self.conversation}/chat", {"content": content, **more})
        started = await self.event("turn_started", known=before)
        return str(started["turn_id"])

    async def finished(self, turn_id: str) -> Json:
        return await self.event("turn_finished", turn_id=turn_id)

    async def event(self, kind: str, known: "set[str] | None" = None, **fields: object) -> Json:
        """The first event of this kind with these fields, once it has come; not of a turn that is known."""

        def found() -> Json | None:
            wanted = {"type": kind, **fields}
            rest = (event for event in self.events if event["turn_id"] not in (known or ()))
            return next((event for event in rest if wanted.items() <= _flat(event)), None)

        async with asyncio.timeout(PATIENCE_S), self._more:
            await self._more.wait_for(lambda: found() is not None)
        return found() or {}

    async def act(self, turn_id: str, call_id: str, verb: str, body: Json) -> None:
        await self.server.post(f"/turns/{turn_id}/calls/{call_id}/{verb}", body)

    async def restart(self) -> None:
        """kill -9, and a new server on the same data; the watcher goes on after what it saw last."""
        await self.server.kill()
        await self.server.start()
        await self.follow(self.conversation)

    async def close(self) -> None:
        await self._stop_watching()
        for request in self._requests:
            request.cancel()
        await asyncio.gather(*self._requests, return_exceptions=True)

    async def story(self) -> list[Json]:
        """What the server says of each turn, once the watcher has seen all of its log."""
        found = []
        for turn in (await self.server.get(f"/conversations/{self.conversation}/turns"))["turns"]:
            log = (await self.server.get(f"/turns/{turn['id']}/log"))["events"]
            await self.event(log[-1]["event"], turn_id=turn["id"], seq=log[-1]["seq"])
            found.append(await self.told(turn["id"], self.conversation))
        return found

    async def told(self, turn_id: str, conversation_id: str) -> Json:
        turn = (await self.server.get(f"/turns/{turn_id}"))["turn"]
        path = f"/conversations/{conversation_id}/messages?head={turn_id}"
        return story_of(turn, (await self.server.get(path))["messages"])

    def _send(self, method: str, path: str, body: Json) -> None:
        request = asyncio.create_task(self.server.call(method, path, body))
        self._requests.add(request)

    async def _watch(self) -> None:
        opened = asyncio.Event()
        self._watching = asyncio.create_task(self._read(opened))
        async with asyncio.timeout(PATIENCE_S):
            await opened.wait()

    async def _stop_watching(self) -> None:
        if self._watching:
            self._watching.cancel()
            with suppress(asyncio.CancelledError, aiohttp.ClientError):
                await self._watching

    async def _read(self, opened: asyncio.Event) -> None:
        last = max((event["id"] for event in self.events if "id" in event), default=0)
        headers = {"Authorization": f"Bearer {self.server.token}", "Last-Event-ID": str(last)}
        url = f"{self.server.url}/conversations/{self.conversation}/events"
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url, headers=headers) as answer:
            buffer = b""
            async for chunk in answer.content.iter_any():
                opened.set()
                *frames, buffer = (buffer + chunk).split(b"\n\n")
                await self._keep([event for frame in frames if (event := _event_of(frame.decode()))])

    async def _keep(self, events: Sequence[Json]) -> None:
        async with self._more:
            self.events += events
            self._more.notify_all()


@asynccontextmanager
async def staged(
    folder: Path, settings: str = "", dialect: Literal["openai", "zai"] = "openai"
) -> AsyncIterator[Stage]:
    home = folder / "home"
    home.mkdir(parents=True)
    ledger = Ledger(folder / "ledger")  # apart from the data folder, which no server reaches
    ledger.folder.mkdir()
    command, *args = ledger.argv()
    run = f"command = {json.dumps(command)}\nargs = {json.dumps(args)}"
    toml = f'[servers.ledger]\n{run}\nenabled = "*"\napproval = "auto"\ntools.destroy.approval = "ask"\n'
    (home / "windlass.toml").write_text(toml + settings)
    async with StrictLLM(dialect=dialect, coding_plan=dialect == "zai", search=FOUND) as llm:
        async with windlass(home, env=model_settings(llm.base_url)) as server:
            await server.running("ledger")
            stage = Stage(server, llm, ledger)
            try:
                yield stage
            finally:
                await stage.close()
        assert llm.unused == [] and llm.refused == []


def _event_of(frame: str) -> Json | None:
    """As the page decodes it: the name as `type`, and the id of a durable one."""
    fields = dict(line.split(": ", 1) for line in frame.splitlines() if ": " in line)
    if "data" not in fields or fields["event"] == "ping":
        return None
    number = {"id": int(fields["id"])} if fields["event"] in DURABLE else {}
    return {"type": fields["event"], **number, **json.loads(fields["data"])}


def _flat(event: Json) -> "Any":
    return {name: value for name, value in event.items() if isinstance(value, str | int | float | None)}.items()
