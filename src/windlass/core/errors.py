"""Few errors, each one something a caller treats differently. The text says what happened, the hint what to do."""


class WindlassError(Exception):
    """Something a person can act on. `code` is for programs, `detail` for machines that show where."""

    code = "error"

    def __init__(self, message: str, *, hint: str = "", code: str = "", detail: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or type(self).code
        self.detail = detail


class BadInput(WindlassError):
    code = "bad_input"


class NotFound(WindlassError):
    code = "not_found"


class Conflict(WindlassError):
    """The request is valid but does not fit the current state: another turn runs, the hash is old, the id was used."""

    code = "conflict"


class Unavailable(WindlassError):
    """Cannot be done now: shutting down, disk full, data folder in use."""

    code = "unavailable"


class DiskFull(Unavailable):
    """Nothing more can be written until somebody frees some space."""

    code = "store_unavailable"


class Fenced(WindlassError):
    """Another driver claimed this turn; the one that gets this stops at once."""

    code = "fenced"


class ModelError(WindlassError):
    """A model call that gave no reply. `partial` is the text that came before it failed. `first_byte_s` and `silence_s`
    are the time it spent waiting with a request out: for the first byte, and for output at its end."""

    code = "model_error"

    def __init__(
        self,
        cause: str,
        message: str,
        *,
        hint: str = "",
        retryable: bool = False,
        wait_s: float = 0,
        partial: str = "",
        status: int = 0,
    ) -> None:
        super().__init__(message, hint=hint, code=cause)
        self.retryable = retryable
        self.wait_s = wait_s
        self.partial = partial
        self.status = status
        self.host = self.model = ""
        self.first_byte_s = self.silence_s = 0.0


class ToolError(WindlassError):
    """A tool call that gave no result. `sent` means it may have had an effect all the same."""

    code = "tool_error"

    def __init__(self, message: str, *, cause: str = "tool_error", sent: bool = False, hint: str = "") -> None:
        super().__init__(message, hint=hint, code=cause)
        self.sent = sent
        self.untrusted = False  # the message quotes a server or a page
