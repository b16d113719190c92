"""The requests a strict model server received, for assertions."""

import asyncio
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import IO, Any

from windlass.core.values import value_object


@value_object
class RecordedRequest:
    """One request as it came; `body` is its JSON, `headers` have lower-case names, `at` is the monotonic clock."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float = field(default_factory=time.monotonic)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages") or [])

    @property
    def tools(self) -> list[dict[str, Any]]:
        return list(self.body.get("tools") or [])

    @property
    def tool_names(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.tools if tool.get("type") == "function"]

    @property
    def tool_choice(self) -> object:
        return self.body.get("tool_choice", "auto")

    @property
    def stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def user_text(self) -> str:
        """The last user message, for scripts that tell conversations apart by it."""
        texts = [message["content"] for message in self._without_pictures() if message.get("role") == "user"]
        return _flat(texts[-1]) if texts else ""

    @property
    def rounds(self) -> int:
        """How many replies with tool calls came since the last user message."""
        count = 0
        for message in self._without_pictures():
            if message.get("role") == "user":
                count = 0
            elif message.get("tool_calls"):
                count += 1
        return count

    @property
    def results(self) -> list[str]:
        """The contents of the tool messages since the last user message."""
        found: list[str] = []
        for message in self._without_pictures():
            if message.get("role") == "user":
                found = []
            elif message.get("role") == "tool":
                found.append(_flat(message["content"]))
        return found

    @property
    def pictures(self) -> list[list[dict[str, Any]]]:
        """The messages behind results that carry what is to be seen or heard in them, each as its parts."""
        return [message["content"] for at, message in enumerate(self.messages) if self._shows_results(at)]

    def _without_pictures(self) -> Iterator[dict[str, Any]]:
        return (message for at, message in enumerate(self.messages) if not self._shows_results(at))

    def _shows_results(self, at: int) -> bool:
        """Whether this user message is nothing that a person wrote: a tool message cannot hold a picture."""
        message, before = self.messages[at], self.messages[at - 1] if at else {}
        behind = message.get("role") == "user" and before.get("role") == "tool"
        return behind and isinstance(message.get("content"), list)


def _flat(content: object) -> str:
    """A text, or the texts of a list of parts."""
    if not isinstance(content, list):
        return str(content)
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


class Recording:
    """Grows by one request at a time; tests wait on it instead of sleeping."""

    def __init__(self, path: Path | None = None) -> None:
        self.requests: list[RecordedRequest] = []
        self.dropped: list[int] = []
        self._changed = asyncio.Condition()
        self._file: IO[str] | None = path.open("a") if path else None

    async def add(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> RecordedRequest:
        request = RecordedRequest(len(self.requests), path, headers, body)
        self.requests.append(request)
        if self._file:
            self._file.write(json.dumps(asdict(request)) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        async with self._changed:
            self._changed.notify_all()
        return request

    async def drop(self, request: RecordedRequest) -> None:
        """The client went away before its answer was complete."""
        self.dropped.append(request.number)
        async with self._changed:
            self._changed.notify_all()

    async def arrived(self, count: int) -> RecordedRequest:
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def gone(self, number: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: number in self.dropped)

    def close(self) -> None:
        if self._file:
            self._file.close()


def read_recording(path: Path) -> list[RecordedRequest]:
    whole_lines = path.read_text().split("\n")[:-1]
    return [RecordedRequest(**json.loads(line)) for line in whole_lines]
