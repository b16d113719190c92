"""The bytes of a picture or sound, read from the result that holds it."""

import asyncio
import binascii
from base64 import b64decode

from windlass.core.errors import NotFound
from windlass.core.messages import MediaRef
from windlass.providers.media_types import ENDS, true_mime
from windlass.servers.values import EmbeddedPart, MediaPart
from windlass.store import Store
from windlass.toolbox.kept_parts import parts_of

LONG = 64 * 1024  # more is decoded in a thread


async def read_media(store: Store, ref: MediaRef) -> bytes | None:
    """None where it was deleted, or is not what it was taken for."""
    try:
        kept = await store.result(ref.source)
    except (NotFound, OSError):
        return None
    data = _part(kept.body, ref.at) if kept.size <= LONG else await asyncio.to_thread(_part, kept.body, ref.at)
    return data if data and true_mime(data[:ENDS], data[-ENDS:]) == ref.mime else None


def _part(body: bytes, at: int) -> bytes | None:
    parts = parts_of(body).parts
    return decoded(base64_in(parts[at])) if at < len(parts) else None


def base64_in(part: object) -> str:
    """What a part holds of a file, "" where that is text or nothing."""
    match part:
        case MediaPart(data=data):
            return data
        case EmbeddedPart(blob=str(blob)):
            return blob
    return ""


def decoded(base64: str) -> bytes | None:
    try:
        return b64decode("".join(base64.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
