"""Random input for the four parsers that read what others wrote: a model's stream, a tool server's lines, a model's
arguments, another program's server list. Whatever comes, they give a value or their own error, and soon.

Inputs are mutations of good ones, by a seed; hypothesis looks for small breakages in the tests of each parser."""

import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.proof.figures import FULL, note
from windlass.core.errors import BadInput
from windlass.providers.calls import read_arguments
from windlass.providers.sse import EventStream, LineTooLong
from windlass.servers.imports import imported_servers
from windlass.servers.pipes import peek
from windlass.servers.stdio import LineBuffer

RUNS = 1_000_000 if FULL else 3_000
BUDGET_S = 400 if FULL else 20  # of the processor's time, so that a busy machine tries as many
GUIDED_S = 45
SEED = 11
ROOT = Path(__file__).parents[2]


def stream(data: bytes) -> None:
    events = EventStream(4096)
    try:
        for at in range(0, len(data), 17):
            events.feed(data[at : at + 17])
        events.close()
    except LineTooLong:
        pass


def lines(data: bytes) -> None:
    whole: list[bytes] = []
    reader = LineBuffer(64, whole.append, lambda line: line.file.close() if line.file else None)
    for at in range(0, len(data), 23):
        reader.feed(data[at : at + 23])
    reader.close()
    assert all(b"\n" not in line for line in whole)
    peek(data[:64], data[-64:])


def arguments(data: bytes) -> None:
    for one in read_arguments(data.decode("utf-8", "replace")):
        assert isinstance(json.loads(one.text), dict)


def imports(data: bytes) -> None:
    try:
        found = imported_servers(data)
    except BadInput:
        return
    assert all(one.config is None or not one.config.confirmed for one in found.servers)


Parser = Callable[[bytes], None]
SEEDS: dict[Parser, list[bytes]] = {
    stream: [
        b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n',
        b": comment\r\nevent: x\r\ndata: a\r\ndata: b\r\n\r\n",
        b"\xef\xbb\xbfdata: [DONE]\n\n",
    ],
    lines: [
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}\n',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n',
        b'{"id":"a\\"b","error":{"code":-1,"message":"x"}}\n',
    ],
    arguments: [b'{"path": "/docs"}', b'{"a": 1}{"b": 2}', b'```json\n{"a": [1, 2]}\n```', b'"{\\"a\\": 1}"'],
    imports: [
        b'{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x@latest"], "env": {"K": "${HOME}"}}}}',
        b'{"servers": {"b": {"url": "https://x.example/mcp", "headers": {"A": "b"}, "type": "sse"}}}',
    ],
}
PIECES = [b"\n", b"\r", b"\0", b"{", b"}", b"[", b"]", b'"', b"\\", b"\xff", b"data:", b"null", b"1e999", b"\xf0\x9f"]


@pytest.mark.timeout(BUDGET_S * 5)
@pytest.mark.parametrize("parser", SEEDS, ids=lambda parser: parser.__name__)
def test_no_input_breaks_a_parser(parser: Parser) -> None:
    rng = random.Random(SEED)
    until, runs, slowest = time.process_time() + BUDGET_S, 0, 0.0
    while runs < RUNS and time.process_time() < until:
        data = mutated(rng, rng.choice(SEEDS[parser]))
        began = time.process_time()
        try:
            parser(data)
        except Exception as error:
            raise AssertionError(f"seed {SEED}, run {runs}: {data!r}") from error
        slowest = max(slowest, time.process_time() - began)
        runs += 1
    note("fuzz", parser=parser.__name__, count=runs, seed=SEED)
    assert slowest < 2 or not FULL, f"one input took {slowest:.1f} s"


@pytest.mark.skipif(not FULL, reason="takes minutes for each parser: `make proof` runs it")
@pytest.mark.skipif(not find_spec("atheris"), reason="Atheris has no build for this machine")
@pytest.mark.timeout(GUIDED_S + 120)
@pytest.mark.parametrize("parser", SEEDS, ids=lambda parser: parser.__name__)
def test_no_guided_input_breaks_a_parser(parser: Parser, tmp_path: Path) -> None:
    for number, data in enumerate(SEEDS[parser]):
        (tmp_path / str(number)).write_bytes(data)
    argv = [sys.executable, "-m", "tests.faults.guided", parser.__name__]
    options = [f"-max_total_time={GUIDED_S}", "-max_len=4096", f"-seed={SEED}", "-timeout=5", str(tmp_path)]
    done = subprocess.run(
        [*argv, *options], capture_output=True, text=True, cwd=tmp_path.parent, env=_path(), check=False
    )
    runs = re.search(r"Done (\d+) runs", done.stderr)
    assert done.returncode == 0 and runs, done.stderr[-3000:]
    note("fuzz", parser=parser.__name__, count=int(runs[1]), seed=SEED)


def _path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


def mutated(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.randrange(9))
        match rng.randrange(5):
            case 0:
                data = data[:at] + data[to:]
            case 1:
                data = data[:at] + rng.choice(PIECES) * rng.choice([1, 1, 2, 50]) + data[at:]
            case 2:
                data = data[:at] + rng.randbytes(to - at) + data[to:]
            case 3:
                data = data[:at] + data[at:to] * rng.randint(2, 20) + data[to:]
            case _:
                data = data[at:] + data[:at]
    return data
