"""Who may come in: programs with a token, the page with a session. One way through, used by every route.

A browser gets a one-time key in a URL, which the page trades for a session (`session_store`).
"""

import asyncio
import hmac
import secrets
import time
from pathlib import Path

from starlette.types import Scope

from windlass.config import check_token
from windlass.core.errors import Conflict, NotFound
from windlass.core.values import value_object
from windlass.web.attempts import ConfirmCode, Failures
from windlass.web.errors import Unauthorized
from windlass.web.login_keys import LoginKeys
from windlass.web.origin import browser_origin
from windlass.web.principal import Principal
from windlass.web.private_file import digest, write_private
from windlass.web.session_store import CONFIRMED_S, NewSession, Sessions
from windlass.web.token_file import check_kept, kept_token
from windlass.web.token_store import TokenRecord, Tokens

FAILED_LOGINS = 10
FAILED_TOKENS = 1000
SAVE_USED_S = 60
MAIN = "token"  # the id and the name of the token that lies in the data folder or comes from the settings
HALF_HEADER = b"x-windlass-session"
_READ = frozenset({b"authorization", b"cookie", HALF_HEADER})


@value_object
class Credentials:
    """What a request brings along: a token, or the two halves of a session."""

    bearer: str = ""
    cookie: str = ""
    half: str = ""
    address: str = ""


class Access:
    """`token` from the settings wins over the file; `open_to_all` is `--no-auth`, which the caller allows on loopback
    only."""

    def __init__(self, folder: Path, *, token: str = "", open_to_all: bool = False) -> None:
        self._file = folder / "token"
        self.fixed = bool(token)
        self.open_to_all = open_to_all
        self.token = token or kept_token(self._file)
        if not open_to_all:
            check_token(token)
            check_kept(self.token, self._file)
        self._digest = digest(self.token)
        self.admin = Principal(MAIN, MAIN, ["admin"])
        self._everybody = Principal("", "person", ["admin"])
        self.tokens = Tokens(folder / "tokens")
        self.sessions = Sessions(folder / "sessions")
        if not open_to_all:
            named = {record.id: "" for record, _ in self.tokens.listed()}
            self.sessions.keep_only({MAIN: self._mark, **named})
        self.code = ConfirmCode()
        self._keys = LoginKeys()
        self._failed_logins = Failures(FAILED_LOGINS)
        self._failed_tokens = Failures(FAILED_TOKENS)
        self._saving: asyncio.TimerHandle | None = None

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
            return self.sessions.find(credentials.cookie, credentials.half)
        return None

    def used(self, principal: Principal) -> None:
        """Kept to the minute, and written at most once a minute: no request waits for it."""
        principal.last_used_at = time.time()
        if self._saving is None and not self.open_to_all:
            self._saving = asyncio.get_running_loop().call_later(SAVE_USED_S, self._save_used)

    def new_key(self, maker: Principal | None = None) -> str:
        """A key for one login, good for a day, with the name and scopes of the maker's token."""
        return self._keys.make(maker.token_id if maker else MAIN)

    def log_in(
        self, *, key: str = "", token: str = "", address: str = "", agent: str = "", our_page: bool = False
    ) -> NewSession:
        """A new session for a one-time key or a token."""
        opener = self._by_key(key) if key else self._by_entered_token(token, address, our_page)
        session = self.sessions.open(opener, self._mark if opener is self.admin else "", agent)
        self._keys.spend(key)  # for what it bought, and not if that could not be kept
        return session

    def confirm(
        self,
        session: Principal,
        *,
        key: str = "",
        token: str = "",
        code: str = "",
        address: str = "",
        our_page: bool = False,
    ) -> None:
        """For ten minutes the session may do what needs a fresh confirmation."""
        if code:
            if not self.code.fits(code):
                raise Unauthorized("The digits are wrong.", hint="`windlass serve` prints them in its terminal.")
        elif key:
            self._by_key(key)
            self._keys.spend(key)
        else:
            own = self._by_entered_token(token, address, our_page)
            if own.id != session.token_id and "admin" not in own.allows:
                raise Unauthorized("This token opened another session.", hint="Enter the one you signed in with.")
        session.confirmed_until = time.time() + CONFIRMED_S

    def log_out(self, session: Principal) -> None:
        if session.is_session:
            self.sessions.end(session.id)

    def rotate(self) -> str:
        """A new token; the old one, the sessions it opened and its keys are void at once."""
        if self.fixed:
            raise Conflict("The token comes from WINDLASS_TOKEN.", hint="Change it there.", code="from_config")
        token = secrets.token_urlsafe(32)
        self.sessions.end_of_token(MAIN)
        write_private(self._file, token.encode())
        self.token, self._digest = token, digest(token)
        self._keys.drop(MAIN)
        former, self.admin = self.admin, Principal(MAIN, MAIN, ["admin"])
        former.end()
        return self.token

    def revoke(self, token_id: str) -> TokenRecord:
        """The token, the sessions it opened and its keys are void at once."""
        if token_id == MAIN:
            raise Conflict("The first token cannot be revoked.", hint="`windlass token --rotate` replaces it.")
        record = self.tokens.revoke(token_id)
        self._keys.drop(token_id)
        self.sessions.end_of_token(token_id)
        return record

    def end_session(self, session_id: str) -> None:
        if not self.sessions.end(session_id):
            raise NotFound(f"There is no session {session_id[:100]}.", hint="GET /sessions shows those that are there.")

    @property
    def _mark(self) -> str:
        """Tells one token from another, and is too short to test guesses on."""
        return self._digest.hex()[:8]

    def _by_entered_token(self, token: str, address: str, our_page: bool) -> Principal:
        """A wrong token from our page slows its address down much sooner than one from a program, with which the
        owner's browser may share an address."""
        failures = self._failed_logins if our_page else self._failed_tokens
        failures.check(address)
        if found := self._by_token(token, address, failures):
            return found
        raise Unauthorized("This is not an access token of this server.", hint="`windlass token` shows it.")

    def _by_key(self, key: str) -> Principal:
        """Wrong ones are not counted: nobody guesses 256 bits."""
        token_id = self._keys.token_of(key)
        found = self.admin if token_id == MAIN else self.tokens.by_id(token_id)
        if found:
            return found
        raise Unauthorized(
            "This login link was used already, or is too old.", hint="`windlass token --url` makes another."
        )

    def _by_token(self, given: str, address: str, failures: Failures) -> Principal | None:
        mark = digest(given)
        if hmac.compare_digest(mark, self._digest):
            return self.admin
        if found := self.tokens.find(mark):
            return found
        failures.check(address)
        failures.add(address)
        return None

    def _save_used(self) -> None:
        self._saving = None
        self.tokens.save_used()
        self.sessions.save_used()


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
