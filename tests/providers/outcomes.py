"""What becomes of a turn for everything that a model's server may answer: how often it is asked, how long that takes at
most, and what a person reads. The real loop and the real wire, on a clock that is put forward.

`python -m tests.providers.outcomes` writes the table into docs/errors.md."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from tests.core.memory import MemoryLog, Script, started
from tests.kit.loop_clock import LoopClock
from tests.kit.ports import refusing_port
from tests.providers.kit import TOOLS, chat_with, raw_server
from windlass.cli.waiting import failed_line
from windlass.core.engine import run_turn
from windlass.core.events import ModelFailed, Settings, TurnFinished
from windlass.core.ports import Emit, LiveEvent, Model, ModelRequest, Reply, TextDelta, Waiting
from windlass.providers.failures import Patience
from windlass.testing import StrictLLM, error, hang, raw_chunks, say, stream_error
from windlass.testing.replies import Scripted

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
BEGIN, END = "<!-- made by tests/providers/outcomes.py -->\n", "<!-- end -->\n"
HEAD = "| the server's answer | attempts | at most | meanwhile | in the end |\n|---|---|---|---|---|\n"
MOMENT = 0.01
Hangs = Literal["", "at once", "in the text"]
JSON, HTML = "application/json", "text/html"

HTTP: dict[str, Scripted] = {
    "400": error(400, None, "tools[0] is not valid"),
    "400, too long for the context": error(400, "context_length_exceeded", "maximum context length is 8192 tokens"),
    "401": error(401, "invalid_api_key", "Incorrect API key provided"),
    "402": error(402, None, "Insufficient balance"),
    "403": error(403, None, "Not allowed"),
    "404, the model is not found": error(404, None, "model 'glm-4.7' not found"),
    "404, JSON": raw_chunks(b'{"detail": "Not Found"}', status=404, content_type=JSON),
    "404, no JSON": raw_chunks(b"404 page not found", status=404, content_type="text/plain"),
    "404, empty": raw_chunks(b"", status=404, content_type="text/plain"),
    "405": raw_chunks(b"", status=405, content_type="text/plain"),
    "408": error(408, None, "Request timeout"),
    "409": error(409, None, "Conflict"),
    "413": error(413, None, "Payload too large"),
    "422": error(422, None, "temperature: out of range"),
    "429": error(429, None, "Too many requests"),
    "429, Retry-After: 17": error(429, None, "Too many requests", {"Retry-After": "17"}),
    "429, insufficient_quota": error(429, "insufficient_quota", "You exceeded your current quota"),
    "500": error(500, None, "Internal error"),
    "502, a web page": raw_chunks(b"<html><h1>Bad Gateway</h1></html>", status=502, content_type=HTML),
    "503": error(503, None, "Service unavailable"),
    "503, Retry-After: 17": error(503, None, "Service unavailable", {"Retry-After": "17"}),
    "504": error(504, None, "Gateway timeout"),
    "529": error(529, None, "Overloaded"),
    "307, another address": error(307, None, "", {"Location": "https://api.example.org/v1"}),
    "200, a web page": raw_chunks(b"<html><h1>Welcome</h1></html>", content_type=HTML),
    "200, no JSON": raw_chunks(b"Good morning", content_type="text/plain"),
    "200, broken JSON": raw_chunks(b"{not json", content_type=JSON),
    "200, an empty reply": say(""),
    "200, an error in the stream": stream_error("1234", "Network error"),
    "200, cut in the middle of the text": say("Half of", " the answer").cut_after(400),
    "200, cut before the first token": raw_chunks(b"data: ", cut=True),
}
ZAI = {
    "1000": (401, "Authentication failed"),
    "1113": (429, "Insufficient balance or no resource package"),
    "1121": (429, "Account locked"),
    "1210": (400, "Invalid parameter"),
    "1211": (400, "Unknown model"),
    "1220": (403, "No permission"),
    "1261": (400, "Prompt too long"),
    "1301": (400, "Sensitive content"),
    "1302": (429, "Concurrency too high"),
    "1303": (429, "Frequency too high"),
    "1305": (429, "Rate limit triggered"),
    "1304": (429, "Daily limit reached"),
    "1308": (429, "Usage limit reached"),
    "1309": (429, "Plan expired"),
    "1312": (429, "Model overloaded"),
    "1313": (429, "Fair use policy"),
    "1234": (500, "Network error"),
}


class LongestPauses(Patience):
    """Without chance: each pause between attempts is as long as it can be."""

    def backoff(self, attempt: int, roll: Callable[[], float] = lambda: 1.0) -> float:
        return Patience.backoff(self, attempt, roll)


@dataclass(slots=True)
class Outcome:
    attempts: int
    took_s: float
    meanwhile: str
    end: TurnFinished


@dataclass(slots=True)
class TimedModel:
    """Puts the clock forward wherever nothing but time could go on: in pauses, and once a server has fallen silent."""

    chat: Model
    clock: LoopClock
    hangs: Hangs = ""
    took_s: float = 0
    asked: list[ModelRequest] = field(default_factory=list)

    async def reply(self, request: ModelRequest, emit: Emit) -> Reply:
        self.asked.append(request)
        return await self.chat.reply(request, self.on_wire)

    def on_pause(self, event: LiveEvent) -> None:
        if isinstance(event, Waiting):
            self._pass(event)

    def on_wire(self, event: LiveEvent) -> None:
        hanging = self.hangs == "at once" and isinstance(event, Waiting) and event.for_ == "first_token"
        if isinstance(event, Waiting) and (event.ahead is not None or hanging):
            self._pass(event)
        elif isinstance(event, TextDelta) and self.hangs == "in the text":
            self._jump(Patience().silence_s)

    def _pass(self, waiting: Waiting) -> None:
        self._jump((waiting.until or waiting.since) - waiting.since)

    def _jump(self, seconds: float) -> None:
        self.took_s += seconds
        asyncio.get_running_loop().call_soon(self.clock.jump, seconds + MOMENT)


async def outcome(base_url: str, clock: LoopClock, *, hangs: Hangs = "") -> Outcome:
    log, rest = MemoryLog(started("Hello", Settings(model="glm-4.7"))), Script(toolset=TOOLS)
    async with chat_with(base_url, model="glm-4.7", patience=LongestPauses()) as chat:
        model = TimedModel(chat, clock, hangs)
        await run_turn(log, model, rest, rest, model.on_pause)
    failures = [event for event in log.events if isinstance(event, ModelFailed)]
    last = log.events[-1]
    assert isinstance(last, TurnFinished) and last.outcome == "failed"
    retried = failures[0] if len(failures) > 1 else None
    meanwhile = failed_line(retried.message.partition(". ")[0], retried.wait_s, 1, 3) if retried else ""
    end = TurnFinished("failed", last.cause, _shown(last.message), last.hint)
    return Outcome(len(model.asked), model.took_s, _shown(meanwhile), end)


@asynccontextmanager
async def rows() -> AsyncIterator[dict[str, Callable[[LoopClock], Awaitable[Outcome]]]]:
    """Each way to answer, and how to see what becomes of it."""

    def answering(scripted: Scripted, hangs: Hangs = "") -> Callable[[LoopClock], Awaitable[Outcome]]:
        async def run(clock: LoopClock) -> Outcome:
            async with StrictLLM(lambda request: scripted) as llm:
                return await outcome(llm.base_url, clock, hangs=hangs)

        return run

    async def nobody(clock: LoopClock) -> Outcome:
        with refusing_port() as port:
            return await outcome(f"http://127.0.0.1:{port}/v1", clock)

    async def dropped(clock: LoopClock) -> Outcome:
        async def drop(writer: asyncio.StreamWriter) -> None:
            writer.close()

        async with raw_server(drop) as base_url:
            return await outcome(base_url, clock)

    yield {
        **{f"HTTP {name}": answering(scripted) for name, scripted in HTTP.items()},
        **{f"Z.AI {code}": answering(error(status, code, words)) for code, (status, words) in ZAI.items()},
        "no server at the address": nobody,
        "closed before the headers": dropped,
        "nothing at all, and the connection stays open": answering(hang(), "at once"),
        "silence in the middle of the text": answering(say("Half of", hang()), "in the text"),
    }


async def table(clock: LoopClock) -> str:
    async with rows() as found:
        lines = [_line(name, await run(clock)) for name, run in found.items()]
    return HEAD + "".join(lines)


def written(page: str, made: str) -> str:
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}"


def _shown(text: str) -> str:
    return re.sub(r"127\.0\.0\.1:\d+", "api.z.ai", re.sub(r"\('127\.0\.0\.1', \d+\)", "('192.0.2.7', 443)", text))


def _line(name: str, found: Outcome) -> str:
    took = f"{found.took_s:.0f} s" if found.took_s >= 1 else "at once"
    cells: Iterable[str] = (
        name,
        str(found.attempts),
        took,
        found.meanwhile,
        f"{found.end.message} *{found.end.hint}*",
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |\n"


async def _write() -> None:
    with pytest.MonkeyPatch.context() as patch:
        PAGE.write_text(written(PAGE.read_text(), await table(LoopClock(patch))))


if __name__ == "__main__":
    asyncio.run(_write())
