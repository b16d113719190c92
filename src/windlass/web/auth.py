"""Who may come in: programs with the token, the page with a session. One way through, used by every route.

The token is made at first start and kept in a file only its owner can read. A browser gets a one-time key in a URL,
which the page trades for a session (`session_store`).
"""

import hmac
import secrets
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path

from starlette.types import Scope

from windlass.config import SHORTEST_TOKEN, check_token
from windlass.core.errors import Conflict, Unavailable
from windlass.core.values import value_object
from windlass.web.errors import TooMany, Unauthorized
from windlass.web.origin import browser_origin
from windlass.web.principal import Principal
from windlass.web.private_file import digest, write_private
from windlass.web.session_store import NewSession, Sessions

KEY_S = 24 * 3600
MOST_KEYS = 20
FAILED_LOGINS = 10
FAILED_TOKENS = 1000
PER_S = 60
MOST_ADDRESSES = 10_000
HALF_HEADER = b"x-windlass-session"
_READ = frozenset({b"authorization", b"cookie", HALF_HEADER})


@value_object
class Credentials:
    """What a request brings along: a token, or the two halves of a session."""

    bearer: str = ""
    cookie: str = ""
    half: str = ""
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
        self._fixed = bool(token)
        self.open_to_all = open_to_all
        self.token = token or _kept_token(self._file)
        if not open_to_all:
            check_token(token)
            _check_kept(self.token, self._file)
        self._digest = digest(self.token)
        self._admin = Principal("token", "token", ["admin"])
        self._everybody = Principal("", "person", ["admin"])
        self._keys: dict[bytes, float] = {}
        self._sessions = Sessions(folder / "sessions")
        if not open_to_all:
            self._sessions.end_of_token("token", but_mark=self._mark)  # another token stands in the file or settings
        self._failed_logins = Failures(FAILED_LOGINS)
        self._failed_tokens = Failures(FAILED_TOKENS)

    def admit(self, credentials: Credentials) -> Principal:
        """Who it is; raises `Unauthorized` unless the request may pass."""
        if found := self.known(credentials):
            return found
        raise Unauthorized(
            "This needs the access token.",
            hint="Send it as `Authorization: Bearer TOKEN`; `windlass token` shows it. Or open the page with the URL "
            "that `windlass serve` prints.",
        )

    def known(self, credentials: Credentials) -> Principal | None:
        if self.open_to_all:
            return self._everybody
        if credentials.bearer:
            return self._by_token(credentials.bearer, credentials.address, self._failed_tokens)
        if credentials.cookie and credentials.half:
            return self._sessions.find(credentials.cookie, credentials.half)
        return None

    def new_key(self) -> str:
        """A key for one login, good for a day."""
        now = time.time()
        self._keys = {key: due for key, due in self._keys.items() if due > now}
        while len(self._keys) >= MOST_KEYS:
            del self._keys[next(iter(self._keys))]
        key = secrets.token_urlsafe(32)
        self._keys[digest(key)] = now + KEY_S
        return key

    def log_in(
        self, *, key: str = "", token: str = "", address: str = "", agent: str = "", our_page: bool = False
    ) -> NewSession:
        """A new session for a one-time key or a token. A wrong token from `our_page` slows this address down much
        sooner than one from a program, which the owner's browser may share an address with; a wrong key does not, as
        nobody guesses 256 bits."""
        failures = self._failed_logins if our_page else self._failed_tokens
        spent = digest(key)
        if key:
            opener = self._admin if self._keys.get(spent, 0.0) > time.time() else None
        else:
            failures.check(address)
            opener = self._by_token(token, address, failures)
        if opener is None:
            raise Unauthorized(
                "This login link was used already, or is too old." if key else "This is not the access token.",
                hint="`windlass token --url` makes a login link." if key else "`windlass token` shows it.",
            )
        session = self._sessions.open(opener, self._mark, agent)
        self._keys.pop(spent, None)  # spent for what it bought, and not if that could not be kept
        return session

    def log_out(self, session: Principal) -> None:
        if session.is_session:
            self._sessions.end(session.id)

    def rotate(self) -> str:
        """A new token; the old one, the sessions it opened and every key are void at once."""
        if self._fixed:
            raise Conflict("The token comes from WINDLASS_TOKEN.", hint="Change it there.", code="from_config")
        token = secrets.token_urlsafe(32)
        self._sessions.end_of_token("token")
        write_private(self._file, token.encode())
        self.token, self._digest = token, digest(token)
        self._keys.clear()
        former, self._admin = self._admin, Principal("token", "token", ["admin"])
        former.end()
        return self.token

    @property
    def _mark(self) -> str:
        """Tells one token from another, and is too short to test guesses on."""
        return self._digest.hex()[:8]

    def _by_token(self, given: str, address: str, failures: Failures) -> Principal | None:
        if given and hmac.compare_digest(digest(given), self._digest):
            return self._admin
        failures.check(address)
        failures.add(address)
        return None


def credentials_of(scope: Scope) -> Credentials:
    found = {name: value for name, value in scope["headers"] if name in _READ}
    scheme, _, given = found.get(b"authorization", b"").decode("latin-1").partition(" ")
    bearer = given.strip() if scheme.lower() == "bearer" else ""
    half = found.get(HALF_HEADER, b"").decode("latin-1")
    cookie = _cookie(found.get(b"cookie", b"").decode("latin-1"), cookie_name(scope)) if half else ""
    return Credentials(bearer, cookie, half, address_of(scope))


def from_our_page(scope: Scope) -> bool:
    """The browser says so, by `Sec-Fetch-Site` or, where it sends none, by an `Origin` that the guard has compared with
    the Host."""
    found: dict[bytes, bytes] = dict(scope["headers"])
    return found.get(b"sec-fetch-site", b"same-origin" if b"origin" in found else b"") == b"same-origin"


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
    write_private(file, token.encode())
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
