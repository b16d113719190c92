"""The one table from errors to statuses, and the one shape they all have."""

import errno
import logging

import msgspec

from windlass.api.schemas import Error, Failed
from windlass.core.errors import (
    BadInput,
    Conflict,
    DiskFull,
    Fenced,
    ModelError,
    NotFound,
    ToolError,
    Unavailable,
    WindlassError,
)

logger = logging.getLogger("windlass.web")
_PATTERNS = {
    "matching regex '^https?://": "an address that begins with http:// or https:// is needed.",
    "matching regex '^[a-z0-9]": "up to 32 small letters, digits, - and _ are possible, a letter or digit first.",
    "matching regex": "some text is needed.",
}


class Malformed(BadInput):
    """The body is not valid JSON; valid JSON of the wrong shape is `BadInput`."""

    code = "malformed_json"


class Unauthorized(WindlassError):
    code = "unauthorized"


class Forbidden(WindlassError):
    code = "forbidden"


class NotAllowed(WindlassError):
    code = "method_not_allowed"


class TooSlow(WindlassError):
    code = "too_slow"


class TooLarge(WindlassError):
    code = "too_large"


class NotJson(WindlassError):
    code = "not_json"


class TooMany(WindlassError):
    code = "too_many_requests"


STATUS: dict[type[WindlassError], int] = {
    Malformed: 400,
    Unauthorized: 401,
    Forbidden: 403,
    NotFound: 404,
    NotAllowed: 405,
    TooSlow: 408,
    Conflict: 409,
    Fenced: 409,
    TooLarge: 413,
    NotJson: 415,
    BadInput: 422,
    TooMany: 429,
    ToolError: 502,
    ModelError: 502,
    Unavailable: 503,
    DiskFull: 507,
    WindlassError: 500,
}
TIMEOUTS = frozenset({"timeout", "connect_timeout", "first_byte_timeout", "silence", "turn_timeout"})
RATES = frozenset({"rate_limited", "rate_limit"})


def status_of(error: WindlassError) -> int:
    if isinstance(error, ModelError):
        return 409 if error.code == "no_provider" else failure_status(error.code)
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def failure_status(cause: str) -> int:
    """The status of a turn that failed: the fault is upstream, and this says which kind."""
    if cause in RATES:
        return 429
    return 504 if cause in TIMEOUTS else 502


def failed(error: WindlassError) -> Failed:
    return Failed(
        error=Error(
            code=error.code,
            message=error.message,
            hint=error.hint or msgspec.UNSET,
            detail=msgspec.UNSET if error.detail is None else error.detail,
        )
    )


def unforeseen(error: Exception) -> WindlassError:
    """A fault of ours: the log gets the trace, the caller only the fact. A full disk is not one."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("Nothing could be written.", hint="The disk is full. Free some space and try again.")
    logger.exception("Internal error", exc_info=error)
    return WindlassError(
        "Internal error in Windlass.",
        hint="The server's log has the details; please report them.",
        code="internal",
    )


def bad_shape(error: msgspec.ValidationError) -> BadInput:
    """msgspec ends its text with the path of the field: `Expected `str`, got `int` - at `$.title``."""
    what, _, path = str(error).partition(" - at `$")
    field = path.rstrip("`").lstrip(".")
    what = next((text for pattern, text in _PATTERNS.items() if pattern in what), what)
    return BadInput(f"{field}: {what}" if field else what, detail={"path": field} if field else None)
