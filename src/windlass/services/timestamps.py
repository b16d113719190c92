"""Times in requests, as seconds since 1970."""

from datetime import UTC, datetime

from windlass.core.errors import BadInput


def seconds(text: str, path: str) -> float:
    """An ISO 8601 time; UTC where it names no zone. `path` is the field it stands in."""
    try:
        read = datetime.fromisoformat(text)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise BadInput(
            f"{path}: {text[:100]!r} is not a time.", hint="Such as 2026-12-31T18:00:00Z.", detail={"path": path}
        ) from None
