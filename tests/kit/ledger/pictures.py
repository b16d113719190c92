"""Real pictures of any size."""

import struct
import zlib


def png(number: int = 0, padding: int = 0) -> bytes:
    """A picture of its own for each number, as large as it is to be."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0" + number.to_bytes(3, "big"))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", pixel)
        + chunk(b"prVt", bytes(padding))
        + chunk(b"IEND", b"")
    )
