"""Encoded pieces, kept within a size."""

CACHE_BYTES = 16 * 1024 * 1024


class ByteCache:
    """Encoded pieces by key; when they grow past a size, the oldest are dropped and encoded again when next needed."""

    def __init__(self, most: int = CACHE_BYTES) -> None:
        self._most = most
        self._size = 0
        self._held: dict[tuple[object, ...], bytes] = {}
        self.get = self._held.get

    def keep(self, key: tuple[object, ...], piece: bytes) -> bytes:
        self._size += len(piece) - len(self._held.pop(key, b""))
        self._held[key] = piece
        while self._size > self._most and len(self._held) > 1:
            self._size -= len(self._held.pop(next(iter(self._held))))
        return piece
