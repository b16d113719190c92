"""The commands of MCP servers that other people wrote. `make test` installs them."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
NODE_SERVERS = ROOT / "tests" / "node" / "node_modules" / "@modelcontextprotocol"
PYTHON_SERVERS = ROOT / ".cache" / "servers" / "bin"


class NotInstalled(AssertionError):
    """Says what to run. A failure, not a skip: a test that did not run proves nothing."""


def everything() -> list[str]:
    return _node_server("server-everything")


def filesystem(*folders: Path) -> list[str]:
    return [*_node_server("server-filesystem"), *map(str, folders)]


def through_npx(*folders: Path) -> list[str]:
    """The filesystem server as people start it, from what is installed: npx, a shell, the server."""
    node = Path(_node_server("server-filesystem")[0])
    npx = shutil.which("npx", path=f"{node.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}")
    if npx is None:
        raise NotInstalled("npx is not installed: run `make test-tools`")
    return [npx, "--no-install", "--prefix", str(NODE_SERVERS.parents[1]), "mcp-server-filesystem", *map(str, folders)]


def time() -> list[str]:
    return [_python_server("mcp-server-time"), "--local-timezone", "UTC"]


def fetch(*options: str) -> list[str]:
    return [_python_server("mcp-server-fetch"), *options]


def _python_server(name: str) -> str:
    program = PYTHON_SERVERS / name
    if not program.exists():
        raise NotInstalled(f"{name} is not installed: run `make test-tools`")
    return str(program)


def playwright() -> list[str]:
    """A browser of the system's, without a window. Chromium's own sandbox does not run as root."""
    script = NODE_SERVERS.parent / "@playwright" / "mcp" / "cli.js"
    found = subprocess.run([ROOT / "scripts" / "find-chromium"], capture_output=True, text=True, check=False)
    browser = found.stdout.strip()
    if not browser or not script.exists():
        raise NotInstalled("Playwright's server or Chromium is not installed: run `make test-tools`")
    return [
        _node_server("server-everything")[0],
        str(script),
        "--headless",
        "--no-sandbox",
        "--executable-path",
        browser,
    ]


def _node_server(name: str) -> list[str]:
    script = NODE_SERVERS / name / "dist" / "index.js"
    node = shutil.which("node", path=f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}")
    if node is None or not script.exists():
        raise NotInstalled(f"{name} or Node is not installed: run `make test-tools`")
    return [node, str(script)]
