"""What servers say about their use, as it was when it first went to a model. A text that changes afterwards could tell
the model anything, so it stays out until a person accepts it, as a changed tool does. Those whom the operator
configured or trusts may change theirs."""

import hashlib

from windlass.core.values import value_object
from windlass.servers import ServerConfig, Servers
from windlass.store import Documents


@value_object
class InstructionsPin:
    digest: str


class ServerInstructions:
    def __init__(self, servers: Servers, pins: Documents[InstructionsPin]) -> None:
        self._servers = servers
        self._pins = pins

    def used(self, config: ServerConfig) -> str:
        """What goes to the model, "" where nothing does. What is seen for the first time is accepted so."""
        text = self._servers.instructions(config.id) if config.instructions else ""
        if not text.strip() or self.changed(config):
            return ""
        if not _may_change(config) and self._pins.get(config.id) is None:
            self._pins.put(config.id, InstructionsPin(_digest(text)), parent=config.id)
        return text

    def changed(self, config: ServerConfig) -> bool:
        """Whether they are others than those that were accepted."""
        text, pin = self._servers.instructions(config.id), self._pins.get(config.id)
        return bool(text and pin) and not _may_change(config) and pin is not None and pin.digest != _digest(text)

    def digest(self, config: ServerConfig) -> str:
        """Of what the server says now; "" where it says nothing."""
        text = self._servers.instructions(config.id)
        return _digest(text) if text else ""

    async def accept(self, config: ServerConfig, digest: str) -> None:
        """The text that a person has seen, whatever the server says by now."""
        if digest:
            await self._pins.put(config.id, InstructionsPin(digest), parent=config.id)


def _may_change(config: ServerConfig) -> bool:
    return config.operator or config.trusted or config.bundled


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
