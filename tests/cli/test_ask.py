"""`windlass ask` and what is piped into it, with real processes: files, devices, pipes that stay silent, terminals."""

import asyncio
import os
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path
from typing import IO

import pytest

from tests.cli.conftest import PROGRAM, Commands
from tests.cli.terminal import terminal
from tests.kit.windlass_process import model_settings
from windlass.testing import StrictLLM, say

ANSWERED, FAILED, USAGE, STOPPED = 0, 1, 2, 3
PATIENCE_S = 60
DOCUMENT = "  first line\nsecond line\n"
CLOSED = "exec <&-; exec"  # a shell's way to start a program without standard input
UNREADABLE = "exec 0>/dev/null; exec"  # what nohup gives a program


async def asked(
    home: Commands, llm: StrictLLM, stdin: IO[bytes] | int, *argv: str, shell: str = "exec"
) -> tuple[int, str]:
    """Its exit code and what it wrote to standard error."""
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", f'{shell} "$@"', "sh", *PROGRAM, "ask", "--no-tools", *argv),
        stdin=stdin,
        stdout=PIPE,
        stderr=PIPE,
        env={**home.env, **model_settings(llm.base_url)},
    )
    async with asyncio.timeout(PATIENCE_S):
        _, err = await process.communicate()
    return process.returncode or 0, err.decode()


def sent(llm: StrictLLM) -> str:
    """What the model was asked last."""
    return str(llm.requests[-1].messages[-1]["content"])


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "document.txt"
    path.write_text(DOCUMENT)
    return path


async def test_a_piped_document_comes_after_the_words(alone: Commands, strict_llm: StrictLLM, document: Path) -> None:
    strict_llm.then(say("Two lines."))
    pipeline = f'cat "{document}" |'
    assert await asked(alone, strict_llm, DEVNULL, "Sum", "it up", shell=pipeline) == (ANSWERED, "")
    assert sent(strict_llm) == "Sum it up\n\n  first line\nsecond line"


async def test_a_file_as_standard_input_comes_after_the_words(
    alone: Commands, strict_llm: StrictLLM, document: Path
) -> None:
    strict_llm.then(say("Two lines."))
    with document.open("rb") as stdin:
        assert (await asked(alone, strict_llm, stdin, "Sum it up"))[0] == ANSWERED
    assert sent(strict_llm) == "Sum it up\n\n  first line\nsecond line"


@pytest.mark.parametrize("arguments", [[], ["-"]])
async def test_without_words_standard_input_is_the_question(
    alone: Commands, strict_llm: StrictLLM, document: Path, arguments: list[str]
) -> None:
    strict_llm.then(say("Two lines."))
    with document.open("rb") as stdin:
        assert (await asked(alone, strict_llm, stdin, *arguments))[0] == ANSWERED
    assert sent(strict_llm) == "  first line\nsecond line"


@pytest.mark.parametrize("shell", ["exec", CLOSED, UNREADABLE])
async def test_standard_input_with_nothing_in_it_changes_nothing(
    alone: Commands, strict_llm: StrictLLM, shell: str
) -> None:
    strict_llm.then(say("Hello."))
    assert await asked(alone, strict_llm, DEVNULL, "Hi", shell=shell) == (ANSWERED, "")
    assert sent(strict_llm) == "Hi"
    code, err = await asked(alone, strict_llm, DEVNULL, shell=shell)
    assert code == USAGE and "nothing to ask" in err


async def test_a_silent_pipe_is_waited_for_only_with_a_dash(
    alone: Commands, strict_llm: StrictLLM, tmp_path: Path
) -> None:
    strict_llm.then(say("Hello."), say("Late."))
    patient, silent = os.pipe(), os.pipe()
    other = Commands(tmp_path / "other")
    try:
        waiting = asyncio.create_task(asked(other, strict_llm, patient[0], "Hi", "-"))
        code, err = await asked(alone, strict_llm, silent[0], "Hello")
        assert code == ANSWERED and "asking without it" in err and "`-`" in err
        assert sent(strict_llm) == "Hello"
        os.write(patient[1], b"late\n")  # the silence that ended the other's patience did not end this one's
    finally:
        for end in (*patient, *silent):
            os.close(end)
    assert await waiting == (ANSWERED, "")
    assert sent(strict_llm) == "Hi\n\nlate"


async def test_what_is_not_text_is_refused(alone: Commands, strict_llm: StrictLLM, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")
    with (tmp_path / "picture.png").open("rb") as stdin:
        code, err = await asked(alone, strict_llm, stdin, "What is this?")
    assert code == FAILED and "not UTF-8 text" in err and "Internal error" not in err
    assert strict_llm.requests == []


async def test_a_call_that_asks_waits_when_there_is_no_standard_input(alone: Commands) -> None:
    argv = [*PROGRAM, "ask", "/write_note title=a text=b"]
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", f'{CLOSED} "$@"', "sh", *argv, env=alone.env, stdout=PIPE, stderr=PIPE
    )
    _, err = await process.communicate()
    assert process.returncode == STOPPED and b"error" not in err


def test_a_terminal_is_not_read_when_there_are_words(alone: Commands) -> None:
    with terminal([*PROGRAM, "ask", "/calculate expression=6*7"], alone.env) as screen:
        screen.expect('"value": 42')
        assert screen.wait() == ANSWERED
