"""The pictures and sounds that models take, known by their first and last bytes: what a server claims of its own is not
believed."""

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
SOUNDS = {"audio/wav": "wav", "audio/mpeg": "mp3"}  # by the name OpenAI's wire has for it
ENDS = 48  # bytes of each end that tell the type; as base64 they are whole groups
_MP3 = (b"ID3", b"\xff\xfb", b"\xff\xfa", b"\xff\xf3", b"\xff\xf2")


def true_mime(head: bytes, tail: bytes) -> str:
    """ "" for what is none of them, and for a PNG that was cut off."""
    if head[:8] == b"\x89PNG\r\n\x1a\n":
        return "image/png" if head[12:16] == b"IHDR" and b"IEND" in tail else ""
    if head[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12], "")
    if head[:3] == b"\xff\xd8\xff":
        return "image/jpeg"
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    return "audio/mpeg" if head.startswith(_MP3) else ""


def is_image(mime: str) -> bool:
    return mime.startswith("image/")


def size_text(size: int) -> str:
    """Rounded as on the page: the same thing has one size."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB".replace(".0 ", " ") if size < 10_000 else f"{round(size / 1000):,} kB"
