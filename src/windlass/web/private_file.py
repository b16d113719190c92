"""Files of the data folder that only their owner may read, and digests of the secrets that they must not hold."""

import hashlib
import os
from pathlib import Path


def write_private(file: Path, content: bytes) -> None:
    """Whole or not at all, and never readable by others, not even for a moment."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(content)
    fresh.replace(file)


def digest(secret: str) -> bytes:
    # Digests have one length and tell nothing of the secret, so neither comparing nor looking them up leaks it.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
