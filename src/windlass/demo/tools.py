"""The tools of the demo server, with true annotations; only `write_note` changes anything."""

import json
import os
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from windlass.demo.arithmetic import NotArithmetic, value_of

Json = dict[str, Any]
MOST_READ = 200_000
MOST_NOTE = 100_000
COMMON = frozenset("a an and are do does for how in is it of on or the to what when which with".split())


class ToolFailure(Exception):
    """The call failed; the message goes to the model."""


class Cancelled(Exception):
    """The client cancelled the call, so no answer is sent."""


class Folders:
    """Where the tools may read and where `write_note` may write."""

    def __init__(self, sample: Path, notes: Path) -> None:
        self.sample = sample.resolve()
        self.notes = notes


class ToolRequest:
    def __init__(self, arguments: Json, folders: Folders, report: Callable[[int, int, str], None]) -> None:
        self.arguments = arguments
        self.folders = folders
        self.report = report
        self.cancelled = threading.Event()

    def text(self, name: str, default: str | None = None) -> str:
        given = self.arguments.get(name, default)
        if not isinstance(given, str) or (default is None and not given.strip()):
            raise ToolFailure(f"`{name}` must be a text.")
        return given

    def number(self, name: str, default: int, least: int, most: int) -> int:
        given = self.arguments.get(name, default)
        if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
            raise ToolFailure(f"`{name}` must be a whole number from {least} to {most}.")
        return given


class Tool:
    def __init__(
        self,
        title: str,
        description: str,
        run: Callable[[ToolRequest], Json],
        properties: Json,
        required: tuple[str, ...] = (),
        changes: bool = False,
        repeatable: bool = True,
    ) -> None:
        self.result = run
        self.definition: Json = {
            "name": run.__name__,
            "title": title,
            "description": description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": list(required),
                "additionalProperties": False,
            },
            "annotations": {
                "title": title,
                "readOnlyHint": not changes,
                "destructiveHint": False,
                "idempotentHint": repeatable,
                "openWorldHint": False,
            },
        }


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def get_time(call: ToolRequest) -> Json:
    zone = call.text("timezone", "UTC") or "UTC"
    now = datetime.now(UTC if zone.upper() == "UTC" else _zone(zone))
    return _structured({"timezone": zone, "time": now.isoformat(timespec="seconds"), "weekday": now.strftime("%A")})


def calculate(call: ToolRequest) -> Json:
    expression = call.text("expression")
    try:
        return _structured({"expression": expression, "value": value_of(expression)})
    except NotArithmetic as problem:
        raise ToolFailure(str(problem)) from None


def list_directory(call: ToolRequest) -> Json:
    folder = _inside(call.folders.sample, call.text("path", "/"))
    if not folder.is_dir():
        raise ToolFailure(f"{_shown(call, folder)} is not a folder.")
    names = sorted(entry.name + "/" * entry.is_dir() for entry in folder.iterdir())
    return _structured({"path": _shown(call, folder), "files": names})


def read_file(call: ToolRequest) -> Json:
    path = _inside(call.folders.sample, call.text("path"))
    if not path.is_file():
        raise ToolFailure(f"There is no file {_shown(call, path)}. `list_directory` shows what there is.")
    return {"content": [text_block(path.read_text("utf-8", "replace")[:MOST_READ])]}


def search_docs(call: ToolRequest) -> Json:
    terms = set(re.findall(r"\w+", call.text("query").lower())) - COMMON
    pages = [_Page(path) for path in sorted(call.folders.sample.rglob("*.md"))]
    found = [page for page in pages if page.address and page.score(terms)]
    found.sort(key=lambda page: -page.score(terms))
    found = found[: call.number("limit", 3, 1, 10)]
    if not found:
        return {"content": [text_block("Nothing in the sample documents fits.")], "structuredContent": {"results": []}}
    results = [{"title": page.title, "url": page.address, "excerpt": page.excerpt(terms)} for page in found]
    listed = "\n\n".join(f"{one['title']}\n{one['url']}\n{one['excerpt']}" for one in results)
    links = [{"type": "resource_link", "uri": p.address, "name": p.title, "mimeType": "text/html"} for p in found]
    return {"content": [text_block(listed), *links], "structuredContent": {"results": results}}


def count_slowly(call: ToolRequest) -> Json:
    to, pause_ms = call.number("to", 5, 1, 1000), call.number("pause_ms", 500, 0, 10_000)
    for number in range(1, to + 1):
        if call.cancelled.wait(pause_ms / 1000):
            raise Cancelled
        call.report(number, to, f"{number} of {to}")
    return {"content": [text_block(f"Counted to {to}.")]}


def write_note(call: ToolRequest) -> Json:
    title, text = call.text("title"), call.text("text")
    if len(text) > MOST_NOTE:
        raise ToolFailure(f"A note has at most {MOST_NOTE} characters.")
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "note"
    call.folders.notes.mkdir(parents=True, exist_ok=True)
    path = _new_file(call.folders.notes, name)
    path.write_text(f"# {title}\n\n{text}\n", "utf-8")
    return _structured({"written": path.name, "characters": len(text)})


def _structured(value: Json) -> Json:
    return {"content": [text_block(json.dumps(value, ensure_ascii=False))], "structuredContent": value}


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ToolFailure(f"There is no timezone {name!r}. Names look like Europe/London.") from None


def _inside(root: Path, path: str) -> Path:
    """`/` is the sample folder itself; whatever the path, a link in it included, the result lies inside."""
    try:
        real = Path(os.path.realpath(root / path.lstrip("/")))
    except ValueError:
        raise ToolFailure("This is not a valid path.") from None
    if not real.is_relative_to(root):
        raise ToolFailure(f"{path} is outside the sample folder.")
    return real


def _shown(call: ToolRequest, path: Path) -> str:
    return "/" + path.relative_to(call.folders.sample).as_posix().removeprefix(".")


def _new_file(folder: Path, name: str) -> Path:
    """A name of its own, so that no note replaces another."""
    for number in range(1, 10_000):
        path = folder / (f"{name}.md" if number == 1 else f"{name}-{number}.md")
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        return path
    raise ToolFailure(f"There are too many notes called {name}.")


class _Page:
    """A sample document: a title, the address it is about, and text."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text("utf-8")
        self.title = self.text.partition("\n")[0].lstrip("# ")
        about = re.search(r"^About: (https://\S+)$", self.text, re.MULTILINE)
        self.address = about.group(1) if about else ""

    def score(self, terms: set[str]) -> int:
        found = re.findall(r"\w+", self.text.lower())
        return sum(found.count(term) for term in terms) + 5 * len(terms & set(self.title.lower().split()))

    def excerpt(self, terms: set[str]) -> str:
        paragraphs = [part for part in self.text.split("\n\n")[1:] if not part.startswith("About: ")]
        return max(paragraphs, key=lambda part: sum(term in part.lower() for term in terms)).replace("\n", " ").strip()


_TEXT: Json = {"type": "string"}
_PATH: Json = {"type": "string", "description": "Starts at the sample folder, which is /"}

TOOLS = {
    tool.definition["name"]: tool
    for tool in (
        Tool(
            "Time",
            "Tell the current time and weekday.",
            get_time,
            {"timezone": {"type": "string", "description": "Such as Europe/London; UTC when left out"}},
            repeatable=False,
        ),
        Tool(
            "Calculator",
            "Work out an arithmetic expression: + - * / // % **, brackets, pi, e, sqrt, sin, cos, tan, log, abs, "
            "round, min, max.",
            calculate,
            {"expression": {"type": "string", "description": "Such as (2 + 3) * sqrt(16)"}},
            ("expression",),
        ),
        Tool("List a folder", "List what is in a folder of the sample files.", list_directory, {"path": _PATH}),
        Tool("Read a file", "Read a text file of the sample files.", read_file, {"path": _PATH}, ("path",)),
        Tool(
            "Search the documents",
            "Search the sample documents and give excerpts with links to cite.",
            search_docs,
            {"query": _TEXT, "limit": {"type": "integer", "minimum": 1, "maximum": 10}},
            ("query",),
        ),
        Tool(
            "Count slowly",
            "Count to a number with a pause before each step, reporting progress. Good for trying Stop.",
            count_slowly,
            {
                "to": {"type": "integer", "minimum": 1, "maximum": 1000},
                "pause_ms": {"type": "integer", "minimum": 0, "maximum": 10_000},
            },
        ),
        Tool(
            "Write a note",
            "Write a note into the data folder. This changes something, so it asks first.",
            write_note,
            {"title": _TEXT, "text": _TEXT},
            ("title", "text"),
            changes=True,
            repeatable=False,
        ),
    )
}
