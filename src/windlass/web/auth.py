"""Who may come in: programs with the token, the page with a session. One way through, used by every route.

The token is made at first start and kept in a file only its owner can read. A browser gets a one-time key in a URL and
trades it for a session: a revocable id, of which only the digest is kept.
"""

import hashlib
import hmac
import os
import re
import secrets
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from starlette.types import Scope

from windlass.config import SHORTEST_TOKEN, check_token
from windlass.core.errors import Conflict, Unavailable
from windlass.core.values import value_object
from windlass.web.errors import TooMany, Unauthorized
from windlass.web.origin import browser_origin

SESSION_S = 30 * 24 * 3600
KEY_S = 24 * 3600
MOST_SESSIONS = 100
MOST_KEYS = 20
FAILED_LOGINS = 10
FAILED_TOKENS = 1000
PER_S = 60
MOST_ADDRESSES = 10_000
_READ = frozenset({b"authorization", b"cookie", b"host", b"origin", b"sec-fetch-site"})
_LOOPBACK = re.compile(rb"(.*\.)?localhost(:\d+)?|127\.[\d.]+(:\d+)?|\[::1\](:\d+)?", re.IGNORECASE)


@value_object
class Credentials:
    """What a request brings along. `same_origin`: the browser says that our page sent it."""

    bearer: str = ""
    session: str = ""
    same_origin: bool = False
    address: str = ""


@dataclass(slots=True)
class Failures:
    """Failed tries of the last minute, per address."""

    most: int
    tries: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(deque))

    def check(self, address: str) -> None:
        now = time.monotonic()
        tries = self.tries[address]
        while tries and tries[0] < now - PER_S:
            tries.popleft()
        if not tries:
            del self.tries[address]
        if len(tries) >= self.most:
            raise TooMany("Too many failed tries.", hint=f"Wait {PER_S} seconds.", detail={"retry_after": PER_S})

    def add(self, address: str) -> None:
        if len(self.tries) >= MOST_ADDRESSES:
            del self.tries[next(iter(self.tries))]
        self.tries[address].append(time.monotonic())


class Access:
    """`token` from the settings wins over the file; `open_to_all` is `--no-auth`, which the caller allows on loopback
    only."""

    def __init__(self, folder: Path, *, token: str = "", open_to_all: bool = False) -> None:
        self._file = folder / "token"
        self._sessions_file = folder / "sessions"
        self._fixed = bool(token)
        self.open_to_all = open_to_all
        self.token = token or _kept_token(self._file)
        if not open_to_all:
            check_token(token)
            _check_kept(self.token, self._file)
        self._digest = _digest(self.token)
        self._keys: dict[bytes, float] = {}
        self._sessions = _kept_sessions(self._sessions_file)
        self._failed_logins = Failures(FAILED_LOGINS)
        self._failed_tokens = Failures(FAILED_TOKENS)

    def admit(self, credentials: Credentials) -> None:
        """Raise `Unauthorized` unless the request may pass."""
        if self.open_to_all or self._known(credentials):
            return
        raise Unauthorized(
            "This needs the access token.",
            hint="Send it as `Authorization: Bearer TOKEN`; `windlass token` shows it. Or open the page with the URL "
            "that `windlass serve` prints.",
        )

    def new_key(self) -> str:
        """A key for one login, good for a day."""
        now = time.time()
        self._keys = {key: due for key, due in self._keys.items() if due > now}
        while len(self._keys) >= MOST_KEYS:
            del self._keys[next(iter(self._keys))]
        key = secrets.token_urlsafe(32)
        self._keys[_digest(key)] = now + KEY_S
        return key

    def log_in(self, *, key: str = "", token: str = "", address: str = "", counts: bool = True) -> str:
        """A new session's id for a one-time key or the token. A failure that `counts` slows this address down; one that
        a link on another site can cause must not, or any page could lock the owner out."""
        self._failed_logins.check(address)
        good = self._keys.get(_digest(key), 0.0) > time.time() if key else self._is_token(token)
        if not good:
            if counts:
                self._failed_logins.add(address)
            raise Unauthorized("This key does not fit, or was used already.", hint="`windlass token --url` makes one.")
        session = secrets.token_urlsafe(32)
        sessions = {**self._sessions, _digest(session).hex(): time.time() + SESSION_S}
        while len(sessions) > MOST_SESSIONS:
            del sessions[next(iter(sessions))]
        self._keep_sessions(sessions)
        self._keys.pop(_digest(key), None)  # spent for what it bought, and not if that could not be kept
        return session

    def log_out(self, session: str) -> None:
        ended = _digest(session).hex()
        if ended in self._sessions:
            self._keep_sessions({one: due for one, due in self._sessions.items() if one != ended})

    def rotate(self) -> str:
        """A new token; the old one, every session and every key are void at once."""
        if self._fixed:
            raise Conflict("The token comes from WINDLASS_TOKEN.", hint="Change it there.", code="from_config")
        token = secrets.token_urlsafe(32)
        self._keep_sessions({})
        _write_private(self._file, token.encode())
        self.token, self._digest = token, _digest(token)
        self._keys.clear()
        return self.token

    def _known(self, credentials: Credentials) -> bool:
        if credentials.bearer:
            if self._is_token(credentials.bearer):
                return True
            self._failed_tokens.check(credentials.address)
            self._failed_tokens.add(credentials.address)
            return False
        if not credentials.session or not credentials.same_origin:
            return False
        return self._sessions.get(_digest(credentials.session).hex(), 0) > time.time()

    def _is_token(self, given: str) -> bool:
        return bool(given) and hmac.compare_digest(_digest(given), self._digest)

    def _keep_sessions(self, sessions: dict[str, float]) -> None:
        """On disk first: what could not be written has not happened, and can be asked for again."""
        _write_private(self._sessions_file, msgspec.json.encode(sessions))
        self._sessions = sessions


def credentials_of(scope: Scope) -> Credentials:
    found = {name: value for name, value in scope["headers"] if name in _READ}
    scheme, _, given = found.get(b"authorization", b"").decode("latin-1").partition(" ")
    bearer = given.strip() if scheme.lower() == "bearer" else ""
    session = _cookie(found.get(b"cookie", b"").decode("latin-1"), cookie_name(scope))
    return Credentials(bearer, session, bool(session) and _same_origin(scope, found), address_of(scope))


def _same_origin(scope: Scope, headers: dict[bytes, bytes]) -> bool:
    """Over plain http browsers send `Sec-Fetch-Site` to this machine alone. Under another name a write has an `Origin`,
    which the guard has compared with the Host, and a read changes nothing and can be read by no other origin."""
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        return site == b"same-origin"
    if _LOOPBACK.fullmatch(headers.get(b"host", b"")):
        return False
    return b"origin" in headers or scope["method"] in {"GET", "HEAD"}


def from_our_page(scope: Scope) -> bool:
    """The browser says so. Without a word of it, a link on another site may have led here."""
    return (b"sec-fetch-site", b"same-origin") in scope["headers"]


def cookie_name(scope: Scope) -> str:
    """Cookies do not know ports, so that two servers on one machine need two names."""
    return f"windlass_{(scope.get('server') or ('', 0))[1]}"


def address_of(scope: Scope) -> str:
    return browser_origin(scope).address


def _cookie(header: str, name: str) -> str:
    for part in header.split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return ""


def _digest(secret: str) -> bytes:
    # Digests have one length and tell nothing of the secret, so neither comparing nor looking them up leaks it.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _kept_token(file: Path) -> str:
    try:
        kept = file.read_bytes().decode().strip() if file.exists() else ""
    except OSError as error:
        raise Unavailable(f"{file} cannot be read: {error.strerror}.", hint="Make it readable for its owner.") from None
    except UnicodeDecodeError:
        raise _damaged(file) from None
    if not kept.isprintable():
        raise _damaged(file)
    if kept:
        return kept
    token = secrets.token_urlsafe(32)
    _write_private(file, token.encode())
    return token


def _check_kept(token: str, file: Path) -> None:
    if len(token) < SHORTEST_TOKEN:
        raise Unavailable(
            f"The token in {file} is too short: {SHORTEST_TOKEN} characters are the least.",
            hint="Delete it and start again: a token is made. Programs need the new one; `windlass token` shows it.",
            code="token_too_short",
        )


def _damaged(file: Path) -> Unavailable:
    return Unavailable(
        f"{file} is damaged: it does not hold an access token. It was left as it is.",
        hint="Delete it and start again: a new token is made. Programs need the new one; `windlass token` shows it.",
        code="file_damaged",
    )


def _kept_sessions(file: Path) -> dict[str, float]:
    try:
        kept = msgspec.json.decode(file.read_bytes(), type=dict[str, float])
    except (FileNotFoundError, msgspec.DecodeError):
        return {}
    return {session: due for session, due in kept.items() if due > time.time()}


def _write_private(file: Path, content: bytes) -> None:
    """Whole or not at all, and never readable by others, not even for a moment."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(content)
    fresh.replace(file)
