"""The server that runs with a data folder, and what it takes to talk to it: settings and token. `serve` looks here too,
so this loads no client: a start would take half as long again."""

import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

from windlass.cli.options import Options
from windlass.config import Config, load
from windlass.core.errors import Unavailable

SERVER_FILE = "server.json"
PAGE = Path(__file__).parent.parent / "web" / "static" / "index.html"


def settings(options: Options) -> Config:
    return load(config=options.config)


def find_server(options: Options, config: Config) -> tuple[str, str]:
    """The address and token of the server to talk to; empty when none runs. Another server than the folder's own is
    given only a token that was given for it."""
    ours = _own_address(config)
    if options.url:
        return options.url, saved_token(config) if _same_origin(options.url, ours) else config.token
    return (ours, saved_token(config)) if ours and _listens(ours) else ("", "")


def _own_address(config: Config) -> str:
    try:
        return str(json.loads((config.home / SERVER_FILE).read_text())["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _same_origin(url: str, ours: str) -> bool:
    """The folder's token is for the folder's own server alone: to another it would be given away."""
    try:
        return bool(ours) and _origin(url) == _origin(ours)
    except ValueError:  # such as a port that is no number
        return False


def _origin(url: str) -> tuple[str, str, int | None]:
    address = urlsplit(url)
    host = address.hostname or ""
    port = address.port or {"http": 80, "https": 443}.get(address.scheme)
    return address.scheme, "127.0.0.1" if host == "localhost" else host, port


def saved_token(config: Config) -> str:
    if config.token:
        return config.token
    file = config.home / "token"
    try:
        kept = file.read_bytes().decode().strip()
    except OSError:
        return ""
    except UnicodeDecodeError:
        kept = "\0"
    if not kept.isprintable():
        raise Unavailable(
            f"{file} is damaged: it does not hold an access token.",
            hint="Stop the server if it is running, delete the file and start `windlass serve`: it makes a new token.",
            code="file_damaged",
        )
    return kept


def _listens(url: str) -> bool:
    address = urlsplit(url)
    try:
        with socket.create_connection((address.hostname or "", address.port or 80), timeout=1):
            return True
    except OSError:
        return False
