"""Servers that other people wrote, isolated: each works, or the line that is named for it makes it work."""

import asyncio
import json
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from tests.kit import real_servers
from tests.kit.isolation_probes import landlock_trial
from tests.kit.waiting import PATIENCE_S
from tests.servers.kit import program, run, text_of
from windlass.servers import Isolation, ServerConfig, Servers, opened
from windlass.servers.isolation import IsolationTrial, trial
from windlass.servers.isolation.landlock import landlock_version

LEVELS = [
    pytest.param("bwrap", marks=pytest.mark.skipif(trial().level != "bwrap", reason=trial().why)),
    pytest.param("landlock", marks=pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")),
]
each_level = pytest.mark.parametrize("level", LEVELS)
PAGE = b"<html><title>A page</title><body><h1>Read by a browser</h1></body></html>"


@pytest.fixture
def home() -> Iterator[Path]:
    """Not in /tmp, which a server has for itself."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="windlass-test-") as folder:
        yield Path(folder)


@pytest_asyncio.fixture
async def servers(home: Path, level: str) -> AsyncIterator[Servers]:
    def tried() -> IsolationTrial:
        return landlock_trial() if level == "landlock" else trial()

    servers = Servers(isolation=Isolation(home / "data", home=home, tried=tried))
    yield servers
    await servers.aclose()


async def called(servers: Servers, tool: str, arguments: Mapping[str, object]) -> str:
    result = await servers.call("server", tool, json.dumps(arguments))
    return f"{'failed: ' if result.failed else ''}{text_of(result)}"


async def with_the_line(servers: Servers, config: ServerConfig) -> str:
    """Open what was refused, as one click does; what it was."""
    [refusal] = servers.isolation("server").refused[:1]
    await servers.put(replace(config, sandbox_rules=opened(config.sandbox_rules, refusal)))
    assert (await servers.wait_ready("server", PATIENCE_S)).state == "running"
    return refusal.path


@pytest.mark.npm
@each_level
async def test_b1_a_file_server_started_by_npx_writes_in_its_folder_and_nowhere_else(
    servers: Servers, home: Path
) -> None:
    (docs := home / "docs").mkdir()
    await run(servers, program(real_servers.through_npx(docs)))
    assert "Successfully" in await called(servers, "write_file", {"path": f"{docs}/a.txt", "content": "x"})
    assert (await called(servers, "write_file", {"path": f"{home}/b.txt", "content": "x"})).startswith("failed")
    assert (docs / "a.txt").exists() and not (home / "b.txt").exists()


@pytest.mark.npm
@each_level
async def test_b1_git_with_a_repository_that_only_a_call_names_works_with_the_line(
    servers: Servers, home: Path
) -> None:
    (folder := home / "repository").mkdir()
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / "file").write_text("x")
    config = program([str(real_servers.PYTHON_SERVERS / "mcp-server-git")])
    await run(servers, config)
    staged = {"repo_path": str(folder), "files": ["file"]}
    assert (await called(servers, "git_add", staged)).startswith("failed")
    assert await with_the_line(servers, config) == str(folder)
    assert not (await called(servers, "git_add", staged)).startswith("failed")
    index = subprocess.run(["git", "-C", folder, "ls-files"], capture_output=True, text=True, check=True)
    assert index.stdout == "file\n"


@pytest.mark.npm
@each_level
async def test_b1_a_browser_opens_a_page(servers: Servers, level: str) -> None:
    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n" + PAGE)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(page, "127.0.0.1", 0) as web:
        url = {"url": f"http://127.0.0.1:{web.sockets[0].getsockname()[1]}/"}
        config = program(real_servers.playwright())
        await run(servers, config)
        seen = await called(servers, "browser_navigate", url)
        if level == "landlock":
            assert seen.startswith("failed")
            assert await with_the_line(servers, config) == "/run"
            seen = await called(servers, "browser_navigate", url)
        assert "A page" in seen and not seen.startswith("failed"), seen
