"""The sessions of browsers. Each has two halves: a cookie, which browsers send to every port of a host, and one that
the page keeps in storage of its own origin and sends as a header. Neither opens anything alone, and on disk lies only
the digest of both together."""

import secrets
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from windlass.core.ids import new_id
from windlass.core.values import value_object
from windlass.web.principal import Principal
from windlass.web.private_file import digest, write_private

SESSION_S = 30 * 24 * 3600
CONFIRMED_S = 600
MOST_SESSIONS = 100
AGENT_LENGTH = 120


class SessionRecord(msgspec.Struct):
    """`token_id` and `token_mark` name the token that opened it: without that token the session is void too."""

    id: str
    digest: str
    name: str
    scopes: list[str]
    token_id: str
    token_mark: str
    created_at: float
    last_used_at: float
    expires_at: float
    agent: str = ""


@value_object
class NewSession:
    cookie: str
    half: str
    principal: Principal


class Sessions:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._records = {record.digest: record for record in _kept(file)}
        self._principals = {mark: _principal(record) for mark, record in self._records.items()}

    def open(self, token: Principal, token_mark: str, agent: str = "") -> NewSession:
        """A session with the name and the scopes of the token; signing in counts as confirming."""
        cookie, half, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), time.time()
        record = SessionRecord(
            id=new_id("sess"),
            digest=_mark(cookie, half),
            name=token.name,
            scopes=sorted(token.scopes),
            token_id=token.id,
            token_mark=token_mark,
            created_at=now,
            last_used_at=now,
            expires_at=min(now + SESSION_S, token.expires_at),
            agent=agent[:AGENT_LENGTH],
        )
        oldest = list(self._records)[: max(0, len(self._records) + 1 - MOST_SESSIONS)]
        self._keep({**self._without(oldest), record.digest: record})
        principal = self._principals[record.digest] = _principal(record)
        principal.confirmed_until = now + CONFIRMED_S
        return NewSession(cookie, half, principal)

    def find(self, cookie: str, half: str) -> Principal | None:
        found = self._principals.get(_mark(cookie, half))
        return found if found and found.is_valid else None

    def listed(self) -> list[tuple[SessionRecord, Principal]]:
        open_ones = [(record, self._principals[mark]) for mark, record in self._records.items()]
        return [(record, own) for record, own in open_ones if own.is_valid]

    def save_used(self) -> None:
        used = [(record, own) for record, own in self.listed() if own.last_used_at > record.last_used_at]
        for record, own in used:
            record.last_used_at = own.last_used_at
        if used:
            self._keep(self._records)

    def end(self, session_id: str) -> bool:
        return self._end([mark for mark, record in self._records.items() if record.id == session_id])

    def end_of_token(self, token_id: str) -> None:
        self._end([mark for mark, record in self._records.items() if record.token_id == token_id])

    def keep_only(self, token_marks: Mapping[str, str]) -> None:
        """Those whose token is still there: another may stand in the file or the settings since the last start."""
        records = self._records.items()
        self._end([mark for mark, one in records if token_marks.get(one.token_id) != one.token_mark])

    def _end(self, marks: list[str]) -> bool:
        if not marks:
            return False
        self._keep(self._without(marks))
        return True

    def _without(self, marks: list[str]) -> dict[str, SessionRecord]:
        return {mark: record for mark, record in self._records.items() if mark not in marks}

    def _keep(self, records: dict[str, SessionRecord]) -> None:
        """On disk first: what could not be written has not happened, and can be asked for again."""
        write_private(self._file, msgspec.json.encode(list(records.values())))
        ended = [mark for mark in self._records if mark not in records]
        self._records = records
        for mark in ended:
            self._principals.pop(mark).end()


def _mark(cookie: str, half: str) -> str:
    return digest(f"{cookie}.{half}").hex()


def _principal(record: SessionRecord) -> Principal:
    return Principal(
        record.id,
        record.name,
        record.scopes,
        token_id=record.token_id,
        expires_at=record.expires_at,
        last_used_at=record.last_used_at,
    )


def _kept(file: Path) -> list[SessionRecord]:
    """Sessions of the first edition had one half only; they do not fit here, and their browsers sign in once more."""
    try:
        kept = msgspec.json.decode(file.read_bytes(), type=list[SessionRecord])
    except (FileNotFoundError, msgspec.DecodeError):
        return []
    return [record for record in kept if record.expires_at > time.time()]
