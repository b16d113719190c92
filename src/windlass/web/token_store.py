"""Named tokens for programs and people, each with its own scopes. The secret is shown once; on disk lies its digest."""

import secrets
import time
from math import inf
from pathlib import Path

import msgspec

from windlass.core.errors import Conflict, NotFound, Unavailable
from windlass.core.ids import new_id
from windlass.web.principal import Principal
from windlass.web.private_file import digest, write_private

PREFIX = "wl_"
MOST_TOKENS = 200
RESERVED = frozenset({"token", "person"})  # names that decisions already carry


class TokenRecord(msgspec.Struct):
    id: str
    digest: str
    name: str
    scopes: list[str]
    created_at: float
    last_used_at: float = 0.0
    expires_at: float | None = None


class Tokens:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._records = {record.id: record for record in _kept(file)}
        self._principals = {bytes.fromhex(one.digest): _principal(one) for one in self._records.values()}

    def find(self, secret_digest: bytes) -> Principal | None:
        found = self._principals.get(secret_digest)
        return found if found and found.is_valid else None

    def by_id(self, token_id: str) -> Principal | None:
        record = self._records.get(token_id)
        return self.find(bytes.fromhex(record.digest)) if record else None

    def listed(self) -> list[tuple[TokenRecord, Principal]]:
        return [(record, self._principals[bytes.fromhex(record.digest)]) for record in self._records.values()]

    def make(self, name: str, scopes: list[str], expires_at: float | None) -> tuple[TokenRecord, str]:
        """The record, and the secret that is shown once."""
        if name.casefold() in RESERVED | {one.name.casefold() for one in self._records.values()}:
            raise Conflict(f"There is a token named {name} already.", hint="Choose another name, or revoke that one.")
        if len(self._records) >= MOST_TOKENS:
            raise Conflict(f"There are {MOST_TOKENS} tokens already.", hint="Revoke one: `windlass token revoke NAME`.")
        secret = PREFIX + secrets.token_urlsafe(32)
        record = TokenRecord(
            new_id("tok"), digest(secret).hex(), name, sorted(set(scopes)), time.time(), expires_at=expires_at
        )
        self._keep({**self._records, record.id: record})
        self._principals[digest(secret)] = _principal(record)
        return record, secret

    def revoke(self, token_id: str) -> TokenRecord:
        record = self._records.get(token_id)
        if record is None:
            raise NotFound(f"There is no token {token_id[:100]}.", hint="GET /tokens shows those that are there.")
        self._keep({one: kept for one, kept in self._records.items() if one != token_id})
        self._principals.pop(bytes.fromhex(record.digest)).end()
        return record

    def save_used(self) -> None:
        used = [(record, own) for record, own in self.listed() if own.last_used_at > record.last_used_at]
        for record, own in used:
            record.last_used_at = own.last_used_at
        if used:
            self._keep(self._records)

    def _keep(self, records: dict[str, TokenRecord]) -> None:
        """On disk first: what could not be written has not happened, and can be asked for again."""
        write_private(self._file, msgspec.json.encode(list(records.values())))
        self._records = records


def _principal(record: TokenRecord) -> Principal:
    due = inf if record.expires_at is None else record.expires_at
    return Principal(record.id, record.name, record.scopes, expires_at=due, last_used_at=record.last_used_at)


def _kept(file: Path) -> list[TokenRecord]:
    """All of them or an error: a list that began empty instead would overwrite what can still be rescued."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[TokenRecord])
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unavailable(f"{file} cannot be read: {error.strerror}.", hint="Make it readable for its owner.") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Unavailable(
            f"{file} is damaged: it does not hold the named tokens. It was left as it is.",
            hint=f"Move it away (mv {file} {file}.damaged) and start again: the named tokens are then void, and "
            "`windlass token new` makes others.",
            code="file_damaged",
        ) from None
