"""The one table from errors to statuses, and the one shape they all have."""

import errno
import logging
import sqlite3

import msgspec

from windlass.api.schemas import Error, Failed, V1Error, V1Failed
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


V1_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def v1_status_of(error: WindlassError) -> int:
    """OpenAI's clients know 400 for all that is wrong with a request."""
    status = status_of(error)
    if isinstance(error, ModelError) and error.code in V1_REQUEST_FAULTS:
        return V1_REQUEST_FAULTS[error.code]
    return 400 if status in (409, 422) else status


# Failures of a model call whose fault is in the request, as a provider's server sees it, or that a repetition of the
# request would only meet again after running its tools again.
V1_REQUEST_FAULTS = {
    "bad_request": 400,
    "context_overflow": 400,
    "content_filter": 400,
    "unknown_model": 404,
    "bad_output": 422,
}


def v1_failure(error: WindlassError) -> tuple[int, V1Failed]:
    status = v1_status_of(error)
    path = error.detail.get("path") if isinstance(error.detail, dict) else None
    hint = f" {error.hint}" if error.hint and status != 404 else ""
    return status, v1_failed(status, f"{error.message}{hint}", error.code, path)


def v1_failed(status: int, message: str, code: str, param: str | None) -> V1Failed:
    kind = V1_KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    return V1Failed(V1Error(message, kind, code, param))


def unforeseen(error: Exception) -> WindlassError:
    """A fault of ours: the log gets the trace, the caller only the fact. A full disk or a damaged file is not one."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("Nothing could be written.", hint="The disk is full. Free some space and try again.")
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.ProgrammingError):
        logger.error("windlass.db cannot be read: %s", error)
        hint = "`windlass doctor` checks windlass.db; restore a backup if it is damaged."
        return Unavailable(f"The database cannot be read: {error}.", hint=hint, code="store_unavailable")
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
