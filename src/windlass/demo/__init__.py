"""The demo's tools: a small MCP server shipped with the package, and the folder it reads from."""

import sys
from pathlib import Path

SLUG = "demo"
NAME = "Demo tools"


def command(notes: Path) -> tuple[str, ...]:
    """The argv that starts the server over stdio; `notes` is the folder `write_note` writes to."""
    return (sys.executable, "-m", "windlass.demo.server", "--notes", str(notes))
