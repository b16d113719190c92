"""Where other clients keep their server lists on this machine. Looked at only when a person asks, and never followed by
anything: what is found is shown by name, and imported as drafts."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from windlass.core.errors import BadInput
from windlass.core.values import value_object
from windlass.servers.imports import ImportedFile, imported_servers

LARGEST = 8 << 20  # Claude Code keeps its history in the same file
_CODE = ("Code", "Code - Insiders", "VSCodium")
_CODE_FILES = ("mcp.json", "settings.json")
_STORAGE = "User/globalStorage"
# By client, and within these folders: ~ is the home folder, APPS where programs keep their settings.
_FILES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("claude-desktop", "Claude Desktop", ("APPS/Claude/claude_desktop_config.json",)),
    ("claude-code", "Claude Code", ("~/.claude.json",)),
    ("cursor", "Cursor", ("~/.cursor/mcp.json",)),
    (
        "vscode",
        "VS Code",
        tuple(f"APPS/{code}/User/{name}" for code in _CODE for name in ("mcp.json", "settings.json")),
    ),
    ("windsurf", "Windsurf", ("~/.codeium/windsurf/mcp_config.json",)),
    (
        "cline",
        "Cline",
        tuple(f"APPS/{code}/{_STORAGE}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json" for code in _CODE),
    ),
    (
        "roo",
        "Roo Code",
        tuple(f"APPS/{code}/{_STORAGE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json" for code in _CODE),
    ),
    ("zed", "Zed", ("~/.config/zed/settings.json", "APPS/Zed/settings.json")),
    ("gemini", "Gemini CLI", ("~/.gemini/settings.json",)),
    ("codex", "Codex", ("~/.codex/config.toml",)),
    ("goose", "Goose", ("~/.config/goose/config.yaml", "APPS/Block/goose/config/config.yaml")),
    ("continue", "Continue", ("~/.continue/config.yaml", "~/.continue/config.json")),
    ("opencode", "OpenCode", ("~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc")),
    ("lmstudio", "LM Studio", ("~/.lmstudio/mcp.json",)),
    ("copilot", "Copilot CLI", ("~/.copilot/mcp-config.json",)),
    ("amazonq", "Amazon Q", ("~/.aws/amazonq/mcp.json",)),
    ("kiro", "Kiro", ("~/.kiro/settings/mcp.json",)),
)


@value_object
class ClientFile:
    """A file that is there and lists servers, or why it cannot be read."""

    id: str
    client: str
    path: str
    found: ImportedFile
    problem: str = ""


def client_files(home: Path | None = None, environ: Mapping[str, str] | None = None) -> list[ClientFile]:
    """Blocks: files are read."""
    environ = os.environ if environ is None else environ
    roots = {"~": str(home or Path.home()), "APPS": _settings_folder(home or Path.home(), environ)}
    return list(_read_all(roots))


def _settings_folder(home: Path, environ: Mapping[str, str]) -> str:
    if sys.platform == "darwin":
        return str(home / "Library" / "Application Support")
    if sys.platform == "win32":
        return environ.get("APPDATA") or str(home / "AppData" / "Roaming")
    return environ.get("XDG_CONFIG_HOME") or str(home / ".config")


def _read_all(roots: Mapping[str, str]) -> Iterator[ClientFile]:
    for id, client, paths in _FILES:
        number = 0
        for name in dict.fromkeys(paths):
            root, _, rest = name.partition("/")
            if found := _read(Path(roots[root], rest), f"{id}-{number + 1}" if number else id, client):
                number += 1
                yield found


def _read(path: Path, id: str, client: str) -> ClientFile | None:
    """None for one that is not there, or is about other things."""
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > LARGEST:
            return ClientFile(id, client, str(path), ImportedFile(()), "It is larger than 8 MiB.")
        return ClientFile(id, client, str(path), imported_servers(path.read_bytes()))
    except OSError as error:
        return ClientFile(id, client, str(path), ImportedFile(()), f"It cannot be read: {error.strerror}.")
    except BadInput as error:
        if "No servers were found" in error.message:
            return None
        return ClientFile(id, client, str(path), ImportedFile(()), error.message)
