"""Log lines: their form, their stamp, their tracebacks."""

import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kit.windlass_process import model_settings, windlass
from windlass.store.redaction import Redactor
from windlass.telemetry.logs import DirectLogger, JsonLineHandler, LineHandler
from windlass.testing import StrictLLM, call, say

FORGED = "x\r\n2026-01-01 00:00:00,000 INFO forged\x1b[2J\x9b31m\x7f\x00\x85\u2028\u202e\ud800é"


def record(message: str, *values: object, at: float = 1_700_000_000.25) -> logging.LogRecord:
    made = logging.LogRecord("windlass", logging.INFO, "", 0, message, values, None)
    made.created, made.msecs = at, (at % 1) * 1000
    return made


def test_a_line_has_stamp_level_and_message() -> None:
    stream = io.StringIO()
    LineHandler(stream).handle(record("Tool calls detected: %d tools", 2))
    assert re.fullmatch(r"2023-11-1\d \d\d:\d\d:\d\d,250 INFO Tool calls detected: 2 tools\n", stream.getvalue())


def test_the_stamp_follows_the_second() -> None:
    stream = io.StringIO()
    lines = LineHandler(stream)
    for at in (1_700_000_000.1, 1_700_000_000.9, 1_700_000_001.0):
        lines.handle(record("x", at=at))
    first, same, later = (line[:19] for line in stream.getvalue().splitlines())
    assert first == same < later


def test_an_internal_error_comes_with_its_traceback() -> None:
    stream = io.StringIO()
    try:
        raise RuntimeError("broken")
    except RuntimeError as error:
        made = record("Turn failed inside Windlass")
        made.exc_info = (type(error), error, error.__traceback__)
    LineHandler(stream).handle(made)
    assert "INFO Turn failed inside Windlass\n  Traceback" in stream.getvalue()
    assert "RuntimeError: broken" in stream.getvalue()


def test_a_closed_stream_breaks_nothing() -> None:
    stream = io.StringIO()
    lines = LineHandler(stream)
    stream.close()
    raising, logging.raiseExceptions = logging.raiseExceptions, False
    try:
        assert lines.handle(record("nobody reads this"))
    finally:
        logging.raiseExceptions = raising


def test_a_line_can_be_json_with_the_message_and_the_traceback_inside() -> None:
    stream = io.StringIO()
    lines = JsonLineHandler(stream)
    lines.handle(record('Tool "%s" said\n%s', "x", "two lines"))
    try:
        raise RuntimeError("broken")
    except RuntimeError as error:
        made = record("Turn failed inside Windlass")
        made.exc_info = (type(error), error, error.__traceback__)
    lines.handle(made)
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert first == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "info",
        "logger": "windlass",
        "message": 'Tool "x" said\ntwo lines',
    }
    assert second["message"] == "Turn failed inside Windlass" and "RuntimeError: broken" in second["exception"]


@contextmanager
def direct() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """The server's logger as `serve` sets it up, and what it wrote. No fixture: pytest listens while a test runs."""
    root, logger, stream = logging.getLogger(), logging.getLogger("windlass.direct"), io.StringIO()
    before, level = root.handlers[:], root.level
    root.handlers[:] = [LineHandler(stream)]
    root.setLevel(logging.INFO)
    logger.__class__ = DirectLogger
    try:
        yield logger, stream
    finally:
        root.handlers[:] = before
        root.setLevel(level)


def test_a_line_goes_straight_to_our_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "_logRecordFactory", None)  # no record is made
    with direct() as (logger, stream):
        logger.info("Tool calls detected: %d tools", 2)
        logger.info("100 % done")
    first, second = stream.getvalue().splitlines()
    assert first.endswith(" INFO Tool calls detected: 2 tools")
    assert second.endswith(" INFO 100 % done")


def test_a_line_below_the_level_is_not_written() -> None:
    with direct() as (logger, stream):
        logger.setLevel(logging.WARNING)
        logger.info("too quiet")
        logger.setLevel(logging.NOTSET)
    assert not stream.getvalue()


def test_another_handler_gets_every_line_too() -> None:
    with direct() as (logger, stream):
        other = io.StringIO()
        logging.getLogger().addHandler(logging.StreamHandler(other))
        logger.info("written to %s", "both")
    assert stream.getvalue().endswith("INFO written to both\n")
    assert other.getvalue() == "written to both\n"


@pytest.mark.parametrize("handler", [LineHandler, JsonLineHandler])
def test_f3_a_logged_value_stays_on_its_line(handler: type[LineHandler]) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "utf-8", newline="")
    handler(stream).handle(record("Processing tool: %s", FORGED))
    handler(stream).info("windlass", f"Processing tool: {FORGED}")
    lines = raw.getvalue().decode().splitlines()
    assert len(lines) == 2 and all(line.isprintable() and "é" in line for line in lines)
    if handler is JsonLineHandler:
        assert json.loads(lines[0])["message"] == "Processing tool: " + FORGED.replace("\ud800", "\\ud800")
    else:
        assert r"x\r\n2026-01-01 00:00:00,000 INFO forged\x1b[2J\x9b31m\x7f\x00\x85\u2028\u202e\ud800é" in lines[0]


@pytest.mark.parametrize("handler", [LineHandler, JsonLineHandler])
def test_f5_a_known_secret_is_in_no_line(handler: type[LineHandler]) -> None:
    known, stream = Redactor(), io.StringIO()
    known.learn([("KEY", 'a "secret" value')])
    lines = handler(stream)
    lines.redact = known.text
    lines.handle(record("It said: %s", 'a "secret" value'))
    lines.info("windlass", 'again a "secret" value')
    lines.flush()
    assert stream.getvalue().count("[secret KEY]") == 2 and "secret\\" not in stream.getvalue()


@pytest.mark.parametrize("handler", [LineHandler, JsonLineHandler])
def test_f3_the_text_of_an_error_cannot_pass_for_a_line(handler: type[LineHandler]) -> None:
    stream = io.StringIO()
    made = record("Turn failed")
    try:
        raise RuntimeError(FORGED)
    except RuntimeError as error:
        made.exc_info = (type(error), error, error.__traceback__)
    handler(stream).handle(made)
    first, *rest = stream.getvalue().splitlines()
    assert "Turn failed" in first
    assert all(line.isprintable() and line.startswith("  ") for line in rest)
    assert "RuntimeError: x" in stream.getvalue()


@pytest.mark.parametrize("log_format", ["text", "json"])
async def test_f3_a_models_tool_name_forges_no_line_of_the_server(tmp_path: Path, log_format: str) -> None:
    script = [call("x\n2026-01-01 00:00:00,000 INFO forged\x1b[2J"), say("Done.")]
    async with StrictLLM(script) as llm:
        env = model_settings(llm.base_url)
        async with windlass(tmp_path / "home", "--log-format", log_format, env=env) as server:
            conversation = (await server.post("/conversations", {}))["conversation"]["id"]
            await server.call("POST", f"/conversations/{conversation}/chat", {"content": "go"})
            assert await server.stop() == 0
            lines = server.log.splitlines()
    assert any("forged" in line for line in lines)
    assert all(line.isprintable() and not line.startswith("2026-01-01 00:00:00") for line in lines)
