"""MCP servers that other people wrote, each installed in its pinned version into a folder of its own under
.cache/third-party: some would not share their dependencies. `make test` has the first few installed already."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.kit import real_servers
from tests.kit.real_servers import NODE_SERVERS, PYTHON_SERVERS, ROOT

FOLDER = ROOT / ".cache" / "third-party"
INSTALL_S = 300
Calls = tuple[tuple[str, Mapping[str, Any]], tuple[str, Mapping[str, Any]]]
Source = Literal["npm", "PyPI"]


@dataclass(frozen=True, slots=True)
class ThirdParty:
    """`version` is "" where `make test` installs it. `answers` is "error" for one that can do nothing without its
    service: it says so in its result, and that counts as an answer."""

    package: str
    source: Source
    calls: Calls
    version: str = ""
    program: str = ""  # where it is not called like its package
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    answers: Literal["result", "error"] = "result"


def servers(docs: Path, page: str, browser: str) -> tuple[ThirdParty, ...]:
    """`docs` is a git repository with `a.txt` in it, `page` an address on this machine, `browser` a Chromium."""
    file, key = str(docs / "a.txt"), {"query": "tides in Nanaimo"}
    thought = {"nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
    chrome = ("--headless", "--isolated", "--executablePath", browser, "--chromeArg=--no-sandbox")
    chart = {"data": [{"category": "a", "value": 1}]}
    return (
        ThirdParty(
            "@modelcontextprotocol/server-everything",
            "npm",
            _two("echo", {"message": "hi"}, "get-sum", {"a": 1, "b": 2}),
        ),
        ThirdParty(
            "@modelcontextprotocol/server-filesystem",
            "npm",
            _two("list_directory", {"path": str(docs)}, "read_text_file", {"path": file}),
            args=(str(docs),),
        ),
        ThirdParty(
            "@modelcontextprotocol/server-memory",
            "npm",
            _two("read_graph", {}, "search_nodes", {"query": "a"}),
            env={"MEMORY_FILE_PATH": str(docs / "memory.json")},
        ),
        ThirdParty(
            "@modelcontextprotocol/server-sequential-thinking",
            "npm",
            _two("sequentialthinking", {"thought": "a", **thought}, "sequentialthinking", {"thought": "b", **thought}),
        ),
        ThirdParty("@playwright/mcp", "npm", _two("browser_navigate", {"url": page}, "browser_take_screenshot", {})),
        ThirdParty(
            "mcp-server-time",
            "PyPI",
            _two(
                "get_current_time",
                {"timezone": "UTC"},
                "convert_time",
                {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
            ),
        ),
        ThirdParty(
            "mcp-server-fetch",
            "PyPI",
            _two("fetch", {"url": page}, "fetch", {"url": page, "raw": True}),
            args=("--ignore-robots-txt", "--allow-private-ips"),
            env={"PATH": str(PYTHON_SERVERS)},
        ),
        ThirdParty(
            "mcp-server-git",
            "PyPI",
            _two("git_status", {"repo_path": str(docs)}, "git_log", {"repo_path": str(docs)}),
            args=("--repository", str(docs)),
        ),
        ThirdParty(
            "chrome-devtools-mcp", "npm", _two("new_page", {"url": page}, "list_pages", {}), "1.11.0", args=chrome
        ),
        ThirdParty(
            "@cyanheads/git-mcp-server",
            "npm",
            _two("git_status", {"path": str(docs)}, "git_log", {"path": str(docs)}),
            "2.15.3",
        ),
        ThirdParty(
            "@eslint/mcp",
            "npm",
            _two("lint-files", {"filePaths": [file]}, "lint-files", {"filePaths": [str(docs)]}),
            "0.3.13",
            answers="error",
        ),
        ThirdParty(
            "@upstash/context7-mcp",
            "npm",
            _two("resolve-library-id", {**key, "libraryName": "a"}, "query-docs", {**key, "libraryId": "/a/b"}),
            "4.1.1",
        ),
        ThirdParty(
            "@antv/mcp-server-chart",
            "npm",
            _two("generate_pie_chart", chart, "generate_bar_chart", chart),
            "0.9.10",
            answers="error",
        ),
        ThirdParty(
            "@notionhq/notion-mcp-server",
            "npm",
            _two("API-get-self", {}, "API-get-users", {}),
            "2.5.2",
            env={"NOTION_TOKEN": "none"},
            answers="error",
        ),
        ThirdParty(
            "@brave/brave-search-mcp-server",
            "npm",
            _two("brave_web_search", key, "brave_news_search", key),
            "2.1.4",
            env={"BRAVE_API_KEY": "none"},
            answers="error",
        ),
        ThirdParty(
            "@modelcontextprotocol/server-github",
            "npm",
            _two("search_repositories", key, "list_issues", {"owner": "a", "repo": "b"}),
            "2025.4.8",
            answers="error",
        ),
        ThirdParty(
            "@modelcontextprotocol/server-postgres",
            "npm",
            _two("query", {"sql": "SELECT 1"}, "query", {"sql": "SELECT 2"}),
            "0.6.2",
            args=("postgresql://127.0.0.1:9/none",),
            answers="error",
        ),
        ThirdParty(
            "exa-mcp-server",
            "npm",
            _two("web_search_exa", key, "web_fetch_exa", {"urls": [page]}),
            "3.4.1",
            env={"EXA_API_KEY": "none"},
            answers="error",
        ),
        ThirdParty(
            "figma-developer-mcp",
            "npm",
            _two("get_figma_data", {"fileKey": "a"}, "get_figma_data", {"fileKey": "b"}),
            "0.13.2",
            args=("--stdio",),
            env={"FIGMA_API_KEY": "none"},
            answers="error",
        ),
        ThirdParty(
            "tavily-mcp",
            "npm",
            _two("tavily_search", key, "tavily_extract", {"urls": [page]}),
            "0.2.22",
            env={"TAVILY_API_KEY": "none"},
            answers="error",
        ),
        ThirdParty(
            "mcp-server-calculator",
            "PyPI",
            _two("calculate", {"expression": "6*7"}, "calculate", {"expression": "2+2"}),
            "0.2.1",
        ),
        ThirdParty("duckduckgo-mcp-server", "PyPI", _two("search", key, "fetch_content", {"url": page}), "0.7.0"),
        ThirdParty(
            "office-word-mcp-server",
            "PyPI",
            _two(
                "create_document",
                {"filename": str(docs / "a.docx")},
                "list_available_documents",
                {"directory": str(docs)},
            ),
            "1.1.11",
            "word_mcp_server",
        ),
        ThirdParty(
            "wikipedia-mcp", "PyPI", _two("search_wikipedia", key, "get_summary", {"title": "Nanaimo"}), "2.0.1"
        ),
        ThirdParty(
            "mcp-shell-server",
            "PyPI",
            _two(
                "shell_execute",
                {"command": ["echo", "hi"], "directory": str(docs)},
                "shell_execute",
                {"command": ["ls"], "directory": str(docs)},
            ),
            "1.1.14",
            env={"ALLOW_COMMANDS": "echo,ls"},
        ),
        ThirdParty("mcp-simple-timeserver", "PyPI", _two("get_local_time", {}, "calculate_time_distance", {}), "3.3.2"),
    )


def _two(first: str, given: Mapping[str, Any], second: str, then: Mapping[str, Any]) -> Calls:
    return (first, given), (second, then)


def argv_of(server: ThirdParty) -> list[str]:
    """The command, installed if it is not yet. Raises `CalledProcessError` when that fails."""
    if server.package == "@playwright/mcp":
        return [*real_servers.playwright(), "--isolated"]  # else a killed browser's profile stays locked
    if server.source == "PyPI":
        return [str(_python_program(server)), *server.args]
    return [_node(), str(_node_script(server)), *server.args]


def version_of(server: ThirdParty) -> str:
    if server.version:
        return server.version
    if server.source == "npm":
        held = json.loads((NODE_SERVERS.parent / server.package / "package.json").read_text())
        return str(held["version"])
    shown = _output(str(PYTHON_SERVERS / "python"), "-m", "pip", "show", server.package)
    return next(line.split()[1] for line in shown.splitlines() if line.startswith("Version:"))


def _python_program(server: ThirdParty) -> Path:
    name = server.program or server.package
    if not server.version:
        return PYTHON_SERVERS / name
    folder = _folder(server)
    if not (folder / "installed").exists():
        _output(str(ROOT / "scripts" / "make-venv"), sys.executable, str(folder))
        _output(str(folder / "bin" / "python"), "-m", "pip", "install", "-q", f"{server.package}=={server.version}")
        (folder / "installed").touch()
    return folder / "bin" / name


def _node_script(server: ThirdParty) -> Path:
    modules = NODE_SERVERS.parent
    if server.version:
        folder = _folder(server)
        modules = folder / "node_modules"
        if not (folder / "installed").exists():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text("{}")
            wanted = f"{server.package}@{server.version}"
            _output("npm", "install", "--prefix", str(folder), "--ignore-scripts", "--loglevel=error", wanted)
            (folder / "installed").touch()
    package = modules / server.package
    programs = json.loads((package / "package.json").read_text())["bin"]
    return package / (programs if isinstance(programs, str) else next(iter(programs.values())))


def _folder(server: ThirdParty) -> Path:
    return FOLDER / f"{server.package.strip('@').replace('/', '-')}-{server.version}"


def _node() -> str:
    found = shutil.which("node", path=f"{ROOT / '.venv' / 'bin'}:{os.environ.get('PATH', '')}")
    assert found, "Node is not installed: run `make test-tools`"
    return found


def _output(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=INSTALL_S).stdout
