"""Imports: other programs' lists become drafts. However hostile the list, nothing runs and nothing of ours leaks in."""

import json
from pathlib import Path
from typing import Any

import pytest

from windlass.core.errors import BadInput, Conflict
from windlass.servers import ServerConfig, Servers, floating_package, imported_servers

ENTRY = {"command": "npx", "args": ["-y", "@scope/server@1.2.3", "/docs"], "env": {"TOKEN": "x"}}

OLD_ZED = {"path": ENTRY["command"], "args": ENTRY["args"], "env": ENTRY["env"]}


@pytest.mark.parametrize(
    "document",
    [
        {"mcpServers": {"My Files": ENTRY}},
        {"servers": {"My Files": ENTRY}},
        {"mcp": {"servers": {"My Files": ENTRY}}},
        {"theme": "One Dark", "context_servers": {"My Files": {"source": "custom", **ENTRY}}},
        {"context_servers": {"My Files": {"command": OLD_ZED, "settings": {}}}},
    ],
    ids=["Claude Desktop and Cursor", "VS Code mcp.json", "VS Code settings.json", "Zed", "Zed, as it was"],
)
def test_every_known_form_becomes_a_draft(document: dict[str, Any]) -> None:
    (found,) = imported_servers(json.dumps(document)).servers
    assert found.config is not None and found.problem == "" and found.warnings == ()
    assert found.config.slug == "my-files" and found.config.name == "My Files"
    assert found.config.argv == ("npx", "-y", "@scope/server@1.2.3", "/docs") and found.config.env == {"TOKEN": "x"}
    assert found.config.draft and not found.config.trusted and not found.config.operator and not found.config.tools


@pytest.mark.parametrize(
    ("entry", "transport"),
    [
        ({"url": "https://a.example/mcp"}, "http"),
        ({"serverUrl": "https://a.example/mcp"}, "http"),
        ({"type": "sse", "url": "https://a.example/sse"}, "sse"),
        ({"type": "streamable-http", "url": "https://a.example/mcp", "headers": {"Authorization": "x"}}, "http"),
        ({"type": "stdio", "command": "cat"}, "stdio"),
    ],
)
def test_the_transport_is_read_or_guessed(entry: dict[str, Any], transport: str) -> None:
    (found,) = imported_servers(json.dumps({"mcpServers": {"a": entry}})).servers
    assert found.config is not None and found.config.transport == transport


def test_a_server_of_an_extension_says_what_it_lacks() -> None:
    document = {"context_servers": {"a": {"source": "extension", "settings": {"key": "x"}}}}
    (found,) = imported_servers(json.dumps(document)).servers
    assert found.config is None and found.problem == "command: a stdio server needs a command"


def test_slugs_stay_apart() -> None:
    names = {"Files": ENTRY, "files!": ENTRY, "???": ENTRY, "x" * 90: ENTRY}
    found = imported_servers(json.dumps({"mcpServers": names}), taken={"files"})
    assert [config.slug for config in found.drafts] == ["files-2", "files-3", "server", "x" * 28]


def test_nothing_is_interpolated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    entry = {"command": "${HOME}/x", "args": ["$OPENAI_API_KEY"], "env": {"A": "${env:OPENAI_API_KEY}", "B": "env:X"}}
    (found,) = imported_servers(json.dumps({"mcpServers": {"a": entry}})).servers
    assert found.config is not None and found.config.command == "${HOME}/x"
    assert found.config.env == {"A": "${env:OPENAI_API_KEY}", "B": "env:X"}
    assert "sk-canary" not in repr(found)
    assert [one.name for one in found.config.missing] == ["HOME", "OPENAI_API_KEY"]


@pytest.mark.parametrize(
    ("command", "args", "package"),
    [
        ("npx", ["-y", "server"], "server"),
        ("npx", ["-y", "@scope/server"], "@scope/server"),
        ("npx", ["-y", "@scope/server@latest"], "@scope/server@latest"),
        ("npx", ["-y", "@scope/server@1.2.3"], ""),
        ("/usr/bin/npx", ["server@2.0.0", "arg"], ""),
        ("npx.cmd", ["server"], "server"),
        ("npx", ["./local"], ""),
        ("uvx", ["mcp-server-time"], "mcp-server-time"),
        ("uvx", ["mcp-server-time==1.0"], ""),
        ("uv", ["tool", "run", "mcp-server-time"], "mcp-server-time"),
        ("node", ["server.js"], ""),
    ],
)
def test_floating_versions_are_flagged(command: str, args: list[str], package: str) -> None:
    assert floating_package(ServerConfig("s", "s", command=command, args=tuple(args))) == package


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"mcpServers": []}', "{", "[" * 100_000, b"\xff\xfe"])
def test_what_is_no_server_list_is_refused(text: str | bytes) -> None:
    with pytest.raises(BadInput):
        imported_servers(text)


def test_an_import_has_a_size() -> None:
    with pytest.raises(BadInput, match="20 MiB"):
        imported_servers(b" " * ((20 << 20) + 1))
    with pytest.raises(BadInput, match="at most 200"):
        imported_servers(json.dumps({"mcpServers": {str(n): ENTRY for n in range(201)}}))


def hostile_entries(canary: Path) -> list[Any]:
    touch = f"touch {canary}"
    commands = ["sh", "/bin/sh", "bash", "python3", "env", "../sh", "sh\0", "", " ", f"$({touch})", f"`{touch}`", touch]
    arguments: list[Any] = [["-c", touch], ["-c", touch, "\0"], touch, [1], [None], [["x"]], {"0": "x"}]
    environments: list[Any] = [
        {"LD_PRELOAD": "/tmp/x.so"},
        {"BASH_ENV": str(canary)},
        {"NODE_OPTIONS": "--require x"},
        {"PYTHONPATH": "."},
        {"A=B": "x"},
        {"": "x"},
        {"A": ["x"]},
        [],
    ]
    entries: list[Any] = [{"command": command, "args": ["-c", touch]} for command in commands]
    entries += [{"command": "sh", "args": args} for args in arguments]
    entries += [{"command": "sh", "args": ["-c", touch], "env": env} for env in environments]
    entries += [
        {"command": "sh", "args": ["-c", touch], **flags}
        for key in (
            "confirmed",
            "operator",
            "trusted",
            "autoStart",
            "disabled",
            "approval",
            "autoApprove",
            "alwaysAllow",
        )
        for flags in ({key: True}, {key: "auto"}, {key: ["*"]})
    ]
    entries += [
        {"url": url}
        for url in ("file:///etc/passwd", "javascript:1", "http://", "://", "ftp://a/b", "http://[", "http://a:b/", 3)
    ]
    kinds: list[Any] = ["exec", "docker", 1, None, []]
    entries += [{"type": kind, "command": "sh", "args": ["-c", touch]} for kind in kinds]
    entries += [None, 1, "sh", [], ["sh", "-c", touch], True]
    return entries


async def test_two_hundred_hostile_imports_start_nothing(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    entries = hostile_entries(canary)
    names = ["a", "../../x", "\u202e", "<img src=x>", "a" * 5000]
    documents = [{"mcpServers": {name: entry}} for entry in entries for name in names[: 200 // len(entries) + 1]]
    assert len(documents) >= 200
    servers = Servers()
    for document in documents:
        for found in imported_servers(
            json.dumps(document), taken=[config.slug for config in servers.configs()]
        ).servers:
            assert (found.config is None) == bool(found.problem)
            if found.config is None:
                continue
            await servers.put(found.config)
            assert not found.config.trusted and not found.config.operator and found.config.approval == ""
            if found.config.transport == "stdio":
                with pytest.raises(Conflict):
                    servers.start(found.config.id)
    servers.start_all()
    await servers.aclose()
    assert not canary.exists()
