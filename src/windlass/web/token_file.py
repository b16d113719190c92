"""The first token: made at first start, and kept in a file that only its owner can read."""

import secrets
from pathlib import Path

from windlass.config import SHORTEST_TOKEN
from windlass.core.errors import Unavailable
from windlass.web.private_file import write_private


def kept_token(file: Path) -> str:
    try:
        kept = file.read_bytes().decode().strip() if file.exists() else ""
    except OSError as error:
        raise Unavailable(f"{file} cannot be read: {error.strerror}.", hint="Make it readable for its owner.") from None
    except UnicodeDecodeError:
        raise _damaged(file) from None
    if not kept.isprintable():
        raise _damaged(file)
    if kept:
        return kept
    token = secrets.token_urlsafe(32)
    write_private(file, token.encode())
    return token


def check_kept(token: str, file: Path) -> None:
    if len(token) < SHORTEST_TOKEN:
        raise Unavailable(
            f"The token in {file} is too short: {SHORTEST_TOKEN} characters are the least.",
            hint="Delete it and start again: a token is made. Programs need the new one; `windlass token` shows it.",
            code="token_too_short",
        )


def _damaged(file: Path) -> Unavailable:
    return Unavailable(
        f"{file} is damaged: it does not hold an access token. It was left as it is.",
        hint="Delete it and start again: a new token is made. Programs need the new one; `windlass token` shows it.",
        code="file_damaged",
    )
