"""Servers that other people wrote, started for real: list, call, cancel, restart, gone."""

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Literal

import pytest

from tests.kit import real_servers
from tests.kit.ports import own_port
from tests.kit.waiting import PATIENCE_S, until
from tests.servers.kit import alive, program, run, text_of
from windlass.core.errors import ToolError
from windlass.servers import InputReply, MediaPart, Question, ServerConfig, Servers
from windlass.toolbox.results import tool_output
from windlass.toolbox.schemas import Checker


async def never_kept(whole: bytes, mime: str) -> str:
    return "res-1"


def commands(folder: Path) -> dict[str, tuple[list[str], str, dict[str, object], str]]:
    node = [real_servers.everything()[0]]
    return {
        "everything": (real_servers.everything(), "echo", {"message": "hi"}, "Echo: hi"),
        "filesystem": (real_servers.filesystem(folder), "list_directory", {"path": str(folder)}, "[FILE] a.txt"),
        "memory": (
            [*node, str(real_servers.NODE_SERVERS / "server-memory" / "dist" / "index.js")],
            "read_graph",
            {},
            "entities",
        ),
        "sequential-thinking": (
            [*node, str(real_servers.NODE_SERVERS / "server-sequential-thinking" / "dist" / "index.js")],
            "sequentialthinking",
            {"thought": "x", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
            "thoughtNumber",
        ),
        "time": (real_servers.time(), "get_current_time", {"timezone": "UTC"}, "UTC"),
        "git": (
            [str(real_servers.PYTHON_SERVERS / "mcp-server-git"), "--repository", str(real_servers.ROOT)],
            "git_log",
            {"repo_path": str(real_servers.ROOT), "max_count": 1},
            "Commit",
        ),
    }


@pytest.mark.npm
@pytest.mark.parametrize("name", ["everything", "filesystem", "memory", "sequential-thinking", "time", "git"])
async def test_a_real_server_lists_calls_restarts_and_goes(servers: Servers, tmp_path: Path, name: str) -> None:
    (tmp_path / "a.txt").write_text("hello")
    argv, tool, arguments, wanted = commands(tmp_path)[name]
    await run(servers, program(argv, env={"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}))
    for definition in servers.tools("server"):
        Checker(definition.input_schema)
    result = await servers.call("server", tool, json.dumps(arguments), key="call_1")
    output = await tool_output(result, never_kept)
    assert wanted in output.text and not output.failed
    first = servers.status("server").pid
    await servers.restart("server")
    assert (await servers.wait_ready("server", PATIENCE_S)).state == "running"
    assert first is not None and not alive(first)
    assert not (await servers.call("server", tool, json.dumps(arguments))).failed


@pytest.mark.npm
async def test_the_fetch_server_reads_a_page(servers: Servers) -> None:
    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b"<html><body><h1>A local page</h1><p>with words</p></body></html>"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    fetch = str(real_servers.PYTHON_SERVERS / "mcp-server-fetch")
    async with await asyncio.start_server(page, "127.0.0.1", 0) as web:
        url = f"http://127.0.0.1:{web.sockets[0].getsockname()[1]}/"
        # With Node in its PATH it would first install a package into its own folder, which is read-only.
        path = {"PATH": str(real_servers.PYTHON_SERVERS)}
        await run(servers, program([fetch, "--ignore-robots-txt", "--allow-private-ips"], env=path))
        assert "with words" in text_of(await servers.call("server", "fetch", json.dumps({"url": url})))


@pytest.mark.npm
@pytest.mark.parametrize(("kind", "transport", "path"), [("sse", "sse", "sse"), ("streamableHttp", "http", "mcp")])
async def test_the_everything_server_is_reached_over_the_network(
    servers: Servers, kind: str, transport: Literal["sse", "http"], path: str
) -> None:
    port = own_port()
    host = await asyncio.create_subprocess_exec(
        *real_servers.everything(),
        kind,
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await until(lambda: reachable(port), "the server to listen")
        url = f"http://127.0.0.1:{port}/{path}"
        await run(servers, ServerConfig("srv-1", "server", transport=transport, url=url))
        assert servers.status("server").era == "2025-11-25"
        assert text_of(await servers.call("server", "echo", '{"message": "hi"}')) == "Echo: hi"
        with pytest.raises(ToolError, match="within"):
            await servers.call("server", "trigger-long-running-operation", '{"duration": 9}', timeout_s=0.3)
        assert text_of(await servers.call("server", "echo", '{"message": "still here"}')) == "Echo: still here"
        await servers.stop("server")
    finally:
        host.kill()
        await host.wait()


def reachable(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.npm
async def test_a_long_operation_reports_progress_and_is_cancelled(servers: Servers) -> None:
    await run(servers, program(real_servers.everything()))
    heard = asyncio.Event()
    call = asyncio.create_task(
        servers.call(
            "server",
            "trigger-long-running-operation",
            '{"duration": 30, "steps": 300}',
            on_progress=lambda *_: heard.set(),
        )
    )
    await asyncio.wait_for(heard.wait(), PATIENCE_S)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert text_of(await servers.call("server", "echo", '{"message": "still here"}')) == "Echo: still here"
    with pytest.raises(ToolError, match="within"):
        await servers.call("server", "trigger-long-running-operation", '{"duration": 30, "steps": 1}', timeout_s=0.2)


@pytest.mark.npm
async def test_a_person_is_sent_to_an_address(servers: Servers) -> None:
    await run(servers, program(real_servers.everything()))
    asked: list[Question] = []

    async def answer(question: Question) -> InputReply:
        asked.append(question)
        return InputReply("accept")

    given = {"url": "https://a.example/sign-in", "message": "Please sign in."}
    await servers.call("server", "trigger-url-elicitation", json.dumps(given), on_input=answer)
    assert [(question.url, question.schema) for question in asked] == [("https://a.example/sign-in", None)]


@pytest.mark.npm
async def test_a_picture_and_structured_content_come_through(servers: Servers) -> None:
    await run(servers, program(real_servers.everything()))
    picture = await servers.call("server", "get-tiny-image", "{}")
    assert any(isinstance(part, MediaPart) and part.mime == "image/png" for part in picture.parts)
    weather = await servers.call("server", "get-structured-content", '{"location": "New York"}')
    assert isinstance(weather.structured, dict) and "temperature" in weather.structured
