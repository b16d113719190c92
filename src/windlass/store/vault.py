"""Secrets in a file of their own, readable by its owner alone, outside the database. Rows hold only their names.
Encrypting it beside its own key would only look safe."""

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from windlass.core.errors import Unavailable
from windlass.store.files import unavailable

PREFIX = "secret:"


class Vault:
    def __init__(self, path: Path, on_change: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._on_change = on_change
        self._lock = threading.Lock()
        self._secrets = _kept(path)

    def put(self, name: str, secret: str) -> str:
        """Keep a secret and return the reference to store in rows."""
        with self._lock:
            self._write({**self._secrets, name: secret})
        return PREFIX + name

    def put_all(self, secrets: Mapping[str, str]) -> None:
        """All of them or none."""
        with self._lock:
            self._write({**self._secrets, **secrets})

    def reveal(self, value: str) -> str:
        """What a reference stands for; any other value is itself. No environment is read here: values come from people
        who may not be allowed to see it."""
        if not value.startswith(PREFIX):
            return value
        return self._secrets.get(value.removeprefix(PREFIX), "")

    def drop(self, prefix: str) -> None:
        """Forget every secret whose name begins so."""
        with self._lock:
            self._write({name: secret for name, secret in self._secrets.items() if not name.startswith(prefix)})

    def keep_only(self, kind: str, prefixes: Iterable[str]) -> None:
        """Of the secrets whose names begin with `kind`, those that begin with one of these: the process may have ended
        before the others were dropped."""
        wanted = tuple(prefixes)
        for name in [name for name in self._secrets if name.startswith(kind) and not name.startswith(wanted)]:
            self.drop(name)

    def values(self) -> list[str]:
        return list(self._secrets.values())

    def items(self) -> list[tuple[str, str]]:
        return list(self._secrets.items())

    def _write(self, secrets: dict[str, str]) -> None:
        """On disk first: what could not be written is not kept in memory either."""
        try:
            self._replace(secrets)
        except OSError as error:
            raise unavailable(error) from None
        self._secrets = secrets
        self._on_change()

    def _replace(self, secrets: dict[str, str]) -> None:
        fresh = self._path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(secrets, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)


def _kept(path: Path) -> dict[str, str]:
    """All of it or an error: a vault that began empty instead would overwrite what can still be rescued."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}.", hint="Make it readable for its owner.") from None
    except ValueError:  # not JSON, or not text; the message does not repeat the content
        raise _damaged(path, "it is not valid JSON" if path.stat().st_size else "it is empty") from None
    if not isinstance(found, dict) or not all(isinstance(secret, str) for secret in found.values()):
        raise _damaged(path, "it does not hold secrets by name")
    return found


def _damaged(path: Path, problem: str) -> Unavailable:
    return Unavailable(
        f"{path} is damaged: {problem}. It holds the keys of models and servers, and was left as it is.",
        hint=f"Restore it from a backup made with --secrets, or move it away (mv {path} {path}.damaged), start again "
        "and enter the keys again.",
        code="file_damaged",
    )
