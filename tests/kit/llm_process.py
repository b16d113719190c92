"""The strict model server as a process of its own, so that it lives on when a test kills Windlass."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.kit.waiting import until
from windlass.testing import ChatRequest, read_recording


@dataclass(frozen=True, slots=True)
class LLMProcess:
    base_url: str
    record: Path

    @property
    def requests(self) -> list[ChatRequest]:
        return read_recording(self.record) if self.record.exists() else []

    async def arrived(self, count: int) -> ChatRequest:
        await until(lambda: len(self.requests) >= count, f"{count} model requests")
        return self.requests[count - 1]


@asynccontextmanager
async def llm_process(script: object, folder: Path, *options: str) -> AsyncIterator[LLMProcess]:
    """`script` is JSON as `windlass.testing.scripts.script_from_json` reads it; `options` go to the command."""
    script_file, record = folder / "script.json", folder / "requests.jsonl"
    script_file.write_text(json.dumps(script))
    argv = ["-m", "windlass.testing", "--script", str(script_file), "--record", str(record), *options]
    process = await asyncio.create_subprocess_exec(sys.executable, *argv, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        first_line = await process.stdout.readline()
        yield LLMProcess(json.loads(first_line)["base_url"], record)
    finally:
        process.kill()
        await process.wait()
