"""Every way a model call can fail, in one place: its code, whether it can be retried, when, and what a person
reads."""

import random
import re
import ssl
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

import msgspec

from windlass.core.errors import ModelError
from windlass.core.values import value_object
from windlass.sentences import whole_sentences

LONGEST_WAIT_S = 120.0
SHOWN_CHARS = 300


class NotConnected(OSError):
    """No connection to the server."""


class ProxyRefused(OSError):
    """The proxy refused to open a tunnel."""


class HungUp(ConnectionError):
    """The server closed the connection before the first byte of a response."""


class Stale(HungUp):
    """The same on a kept connection: most likely it was closed before the request was sent."""


class Cut(ConnectionError):
    """The server closed the connection in the middle of a response."""


class BadAnswer(Exception):
    """What came is not valid HTTP."""


class OutOfTime(TimeoutError):
    """All the time that the attempts of one request share is spent, so there is no other attempt."""

    def __init__(self, summary: str) -> None:
        super().__init__(summary)
        self.kind = Kind("timeout", f"Timeout: {summary}", "Try again, or choose a faster model.")


@value_object
class Kind:
    """`summary` is the statement that a person reads first, with the host and the model in their places."""

    cause: str
    summary: str
    hint: str = ""
    retryable: bool = False


class WireError(ModelError):
    """A failure that can still be told whom it is about: what finds it does not always know the host and the model."""

    def __init__(self, kind: Kind, where: str, detail: str, *, wait_s: float, partial: str, status: int) -> None:
        wait_s = wait_s if kind.retryable and kind is not OVERFLOW else 0
        super().__init__(
            kind.cause, "", hint=kind.hint, retryable=kind.retryable, wait_s=wait_s, partial=partial, status=status
        )
        self.kind = kind
        self._where = where
        self._detail = detail
        self.name("", "")

    def name(self, host: str, model: str) -> None:
        """The statement, then whichever name it lacks, the status and code, and the server's own message."""
        self.host, self.model = host, model
        summary = self.kind.summary
        statement = summary.format(host=host or "the provider", model=model or host or "the model")
        names = [name for name, field in ((model, "{model}"), (host, "{host}")) if name and field not in summary]
        known = ", ".join([*names, *([self._where] if self._where else ())])
        details = ": ".join(part for part in (known, self._detail) if part)
        start = statement[0].upper() if statement.startswith("the ") else statement[0]
        end = "" if details[-1:] in (".", "!", "?", "…") else "."
        self.message = f"{start}{statement[1:]}." + (f" {details}{end}" if details else "")
        self.args = (self.message,)


_KEY = "Check the provider's key and address."
_REQUEST = "Try another model, or report this with the turn's log."
_LATER = "Wait a little, or use another provider."
_BASE_URL = "Check the provider's base URL; most end in /v1."

AUTH = Kind("auth", "{host} rejected the API key", _KEY)
ARREARS = Kind(
    "quota",
    "The account at {host} is in arrears, or this key belongs to the other Z.AI plan's endpoint",
    "Top up the account, or switch between .../api/paas/v4 and .../api/coding/paas/v4.",
)
QUOTA = Kind(
    "quota",
    "The quota of the account at {host} is used up",
    "Wait for it to reset, or change the plan or the provider.",
)
UNFAIR = Kind(
    "quota", "The account at {host} broke the plan's fair-use rule", "Look at the account on the provider's site."
)
ACCOUNT = Kind(
    "account", "The account at {host} is locked or not active", "Look at the account on the provider's site."
)
BAD_REQUEST = Kind("bad_request", "{host} refused the request", _REQUEST)
NO_MODEL = Kind(
    "unknown_model", "{host} does not know the model {model}", "Choose one that `windlass models list` shows."
)
NAMELESS = Kind(
    "model_required",
    "No model is named for {host}",
    "Name one with LLM_MODEL, with model = ... under [provider] in windlass.toml, or on the Models page.",
)
FORBIDDEN = Kind("forbidden", "{host} does not let this key use {model}", "Ask for access, or choose another model.")
FILTERED = Kind("content_filter", "The content filter of {host} stopped this", "Rephrase the request.")
RATE = Kind("rate_limited", "{host} is limiting requests", _LATER, True)
BUSY = Kind("overloaded", "{model} is overloaded", _LATER, True)
SERVER = Kind("server_error", "{host} reported an internal error", "Try again later.", True)
OVERFLOW = Kind(
    "context_overflow",
    "The chat is too long for {model}",
    "Start a new one, or choose a model with a larger context.",
    True,
)
NOT_FOUND = Kind("not_found", "{host} has no chat endpoint at this address", _BASE_URL)
MISSING = Kind(
    "not_found", "{host} did not find what was asked for", "Check the model's name and the provider's base URL."
)
REDIRECT = Kind("redirected", "{host} answers from another address", "Set the provider's base URL to the new address.")
TIMEOUT = Kind("timeout", "Timeout at {host}", "Try again, or choose a faster model.", True)
UNREACHABLE = Kind("unreachable", "{host} cannot be reached", "Is it running, and is the address right?", True)
CERTIFICATE = Kind(
    "tls", "The certificate of {host} is not trusted", "Set SSL_CERT_FILE, or the provider's ca_file, to your CA."
)
TLS = Kind("tls", "No secure connection to {host}", "Check the address and any proxy.", True)
PROXY = Kind("proxy", "The proxy refused the connection to {host}", "Check HTTPS_PROXY and NO_PROXY.", True)
CUT = Kind("interrupted", "The reply of {model} broke off", "Try again.", True)
NO_REPLY = Kind("interrupted", "{host} ended the request without a reply", "Try again.", True)
INVALID = Kind(
    "invalid_reply",
    "{host} answered in an invalid format",
    "Check that the base URL is that of a chat-completions server.",
    True,
)
WEB_PAGE = Kind("invalid_reply", "{host} answered in an invalid format, a web page instead of a reply", _BASE_URL)
BAD_URL = Kind(
    "bad_address",
    "The provider's address or key cannot be used",
    "An address looks like https://host/v1; a key is one line.",
)

ZAI_CODES: dict[str, Kind] = {
    **dict.fromkeys(("1000", "1001", "1002", "1003", "1004"), AUTH),
    **dict.fromkeys(("1110", "1111", "1112", "1120", "1121"), ACCOUNT),
    "1100": SERVER,
    "1113": ARREARS,
    "1200": SERVER,
    **dict.fromkeys(("1210", "1212", "1213", "1214", "1215", "1222", "1230", "1231"), BAD_REQUEST),
    "1211": NO_MODEL,
    "1220": FORBIDDEN,
    "1221": NO_MODEL,
    "1234": SERVER,
    "1261": OVERFLOW,
    "1300": FILTERED,
    "1301": FILTERED,
    **dict.fromkeys(("1302", "1303", "1305"), RATE),
    **dict.fromkeys(("1304", "1308", "1309", "1310"), QUOTA),
    "1312": BUSY,
    "1313": UNFAIR,
}
NAMED_CODES: dict[str, Kind] = {
    "invalid_api_key": AUTH,
    "authentication_error": AUTH,
    "insufficient_quota": QUOTA,
    "billing_hard_limit_reached": QUOTA,
    "model_not_found": NO_MODEL,
    "context_length_exceeded": OVERFLOW,
    "exceed_context_size_error": OVERFLOW,
    "content_policy_violation": FILTERED,
    "content_filter": FILTERED,
    "data_inspection_failed": FILTERED,
    "rate_limit_exceeded": RATE,
    "rate_limit_error": RATE,
    "overloaded_error": BUSY,
}
STATUSES: dict[int, Kind] = {
    400: BAD_REQUEST,
    401: AUTH,
    402: QUOTA,
    403: FORBIDDEN,
    404: NOT_FOUND,
    405: NOT_FOUND,
    408: TIMEOUT,
    413: OVERFLOW,
    422: BAD_REQUEST,
    425: BUSY,
    429: RATE,
    503: BUSY,
    504: TIMEOUT,
    529: BUSY,
}
_TOO_LONG = re.compile(
    r"context[ _](length|window|size)|maximum context|prompt is too long|too many (input )?tokens|"
    r"exceeds? the (available|model'?s) context|input is too long|reduce the length of the messages",
    re.IGNORECASE,
)
_NO_SUCH_MODEL = re.compile(r"model\b.{0,80}(not found|does not exist|not exist|unknown)", re.IGNORECASE | re.DOTALL)
_LOOKS_LIKE_KEY = re.compile(r"\b(sk|key|pk)-[\w*.-]{6,}")


@value_object
class Patience:
    """How long each part of a call may take, and how long to wait between attempts."""

    connect_s: float = 60
    first_byte_s: float = 240
    silence_s: float = 240  # this and the one before: of all attempts of a request together
    total_s: float = 1200  # however much output comes
    linger_s: float = 2  # for what may follow a finish reason
    hang_up_s: float = 0.1  # for the end of the body after the end of the stream
    backoff_s: float = 1
    backoff_cap_s: float = 30

    def backoff(self, attempt: int, roll: Callable[[], float] = random.random) -> float:
        """Full jitter: any moment up to a bound that doubles."""
        return float(roll() * min(self.backoff_cap_s, self.backoff_s * 2 ** min(attempt - 1, 16)))


def failure(
    kind: Kind, detail: str = "", *, where: str = "", wait_s: float = 0, partial: str = "", status: int = 0
) -> WireError:
    """An error of this kind. `where` is the status and code it came with, `detail` the server's own message."""
    return WireError(kind, where, detail, wait_s=wait_s, partial=partial, status=status)


def http_failure(status: int, headers: Mapping[str, str], body: bytes, backoff_s: float) -> WireError:
    """What a response other than 200 means."""
    code, detail = body_error(body)
    kind = kind_of(status, code, detail, is_json=_is_api(body))
    where = f"HTTP {status}, code {code}" if code and code != str(status) else f"HTTP {status}"
    if kind is REDIRECT:
        detail = shown(headers.get("Location", ""))
    asked = asked_wait(headers)
    if asked is None or not kind.retryable:
        return failure(kind, detail, where=where, wait_s=backoff_s, status=status)
    if asked > LONGEST_WAIT_S:
        return _too_long_a_wait(kind, where, asked, status)
    return failure(kind, detail, where=where, wait_s=asked + backoff_s * 0.1, status=status)


def stream_failure(error: object, backoff_s: float, partial: str) -> WireError:
    """An error object that came with a 200, alone or in the middle of a stream."""
    code, detail = _described(error)
    kind = kind_of(int(code) if len(code) == 3 and code.isdecimal() else 500, code, detail)
    return failure(kind, detail, where=f"code {code}" if code else "", wait_s=backoff_s, partial=partial, status=200)


def exception_failure(error: Exception, backoff_s: float, partial: str = "", *, begun: bool = False) -> WireError:
    """What an exception of the HTTP client means; `begun` once a part of the reply has come."""
    if isinstance(error, OutOfTime):
        return failure(error.kind, partial=partial)
    cut = CUT if begun or partial else NO_REPLY
    kind = next((kind for kinds, kind in _EXCEPTIONS if isinstance(error, kinds)), cut)
    detail = str(error) or ("" if kind is TIMEOUT else type(error).__name__)
    return failure(kind, shown(detail), wait_s=backoff_s, partial=partial)


def kind_of(status: int, code: str, detail: str, *, is_json: bool = False) -> Kind:
    """The body's code is more exact than the status, and a message about the context more exact than both."""
    if known := ZAI_CODES.get(code) or NAMED_CODES.get(code):
        return OVERFLOW if known is BAD_REQUEST and _TOO_LONG.search(detail) else known
    if status in (400, 404, 413, 422, 500) and _TOO_LONG.search(detail):
        return OVERFLOW
    if status == 404 and _NO_SUCH_MODEL.search(detail):
        return NO_MODEL
    if status == 404 and is_json:  # an API answers there, and says itself what it misses
        return MISSING
    if 300 <= status < 400:
        return REDIRECT
    return STATUSES.get(status) or (SERVER if status >= 500 else BAD_REQUEST)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait, given in milliseconds, seconds or as a date; None for no clear time."""
    try:
        if text := headers.get("Retry-After-Ms", "").strip():
            return max(0.0, float(text) / 1000)
        text = headers.get("Retry-After", "").strip()
        if not text:
            return None
        if re.fullmatch(r"[\d.]+", text):
            return float(text)
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def body_error(body: bytes) -> tuple[str, str]:
    """The code and the message of an error body, whatever its shape."""
    try:
        value: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return "", shown(body.decode(errors="replace"))
    if isinstance(value, list) and value:
        value = value[0]
    return _described(value.get("error") or value if isinstance(value, dict) else value)


def _is_api(body: bytes) -> bool:
    """A JSON body that says something: what answers there is an API, whatever it did not find."""
    return body.lstrip()[:1] in (b"{", b"[") and any(body_error(body))


def shown(text: str) -> str:
    """The beginning of a text, on one line, for a person."""
    return whole_sentences(_LOOKS_LIKE_KEY.sub("[key]", text[: SHOWN_CHARS * 4]), SHOWN_CHARS)


def _described(error: object) -> tuple[str, str]:
    if not isinstance(error, dict):
        return "", shown(str(error or ""))
    code = error.get("code")
    if not isinstance(code, str | int) or code == "":
        kind = str(error.get("type"))
        code = kind if kind in NAMED_CODES else ""
    detail = error.get("message") or error.get("msg") or error.get("detail") or error.get("error") or ""
    if not isinstance(detail, str):
        detail = msgspec.json.encode(detail).decode()
    return str(code), shown(detail)


def _too_long_a_wait(kind: Kind, where: str, asked: float, status: int) -> WireError:
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(time.time() + min(asked, 1e9)))
    hint = f"Try again after {when}, or use another provider."
    detail = f"it asks to wait {round(asked)} s, until {when}"
    return failure(Kind(kind.cause, kind.summary, hint), detail, where=where, status=status)


_EXCEPTIONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], Kind], ...] = (
    (TimeoutError, TIMEOUT),
    (ssl.SSLCertVerificationError, CERTIFICATE),
    (ssl.SSLError, TLS),
    (ProxyRefused, PROXY),
    (NotConnected, UNREACHABLE),
    (BadAnswer, INVALID),
    (ValueError, BAD_URL),
)
