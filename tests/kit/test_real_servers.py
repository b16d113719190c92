"""The servers other people wrote start and answer."""

from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.kit import real_servers


async def called(argv: list[str], tool: str, **arguments: object) -> str:
    transport = stdio_client(StdioServerParameters(command=argv[0], args=argv[1:]))
    async with Client(transport, read_timeout_seconds=30) as client:
        result = await client.call_tool(tool, arguments)
    return "".join(block.text for block in result.content if isinstance(block, types.TextContent))


@pytest.mark.npm
async def test_the_filesystem_server_lists_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    listed = await called(real_servers.filesystem(tmp_path), "list_directory", path=str(tmp_path))
    assert listed == "[FILE] a.txt"


@pytest.mark.npm
async def test_the_everything_server_echoes() -> None:
    assert "hello" in await called(real_servers.everything(), "echo", message="hello")


async def test_the_time_server_knows_the_time() -> None:
    assert '"timezone": "UTC"' in await called(real_servers.time(), "get_current_time", timezone="UTC")


def test_what_is_not_installed_fails_with_the_line_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_servers, "NODE_SERVERS", tmp_path)
    monkeypatch.setattr(real_servers, "PYTHON_SERVERS", tmp_path)
    for server in (real_servers.everything, real_servers.filesystem, real_servers.time, real_servers.fetch):
        with pytest.raises(real_servers.NotInstalled, match="make test-tools"):
            server()
