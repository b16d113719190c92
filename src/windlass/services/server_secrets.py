"""What of a server's configuration is kept in the vault: rows hold only references to it."""

from collections.abc import Mapping
from dataclasses import replace

from windlass.servers import Placeholder, ServerConfig
from windlass.servers.environment import is_secret
from windlass.servers.placeholders import unfilled
from windlass.store.vault import PREFIX, Vault


class ServerSecrets:
    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def hidden(self, config: ServerConfig) -> ServerConfig:
        """As its row is kept. Whatever is no reference to its own slot is written into it."""
        return replace(
            config,
            env=self._hidden(config, "env", config.env),
            headers=self._hidden(config, "headers", config.headers),
            client_secret=self._kept(f"{config.id}/client/secret", config.client_secret),
            placeholders=tuple(self._hidden_input(config, one) for one in config.placeholders),
            overrides=dict(config.overrides),
        )

    def readable(self, config: ServerConfig) -> ServerConfig:
        """With the values that its row only names; those of placeholders stay in the vault."""
        return replace(
            config,
            env={name: self._value(f"{config.id}/env/{name}", value) for name, value in config.env.items()},
            headers={name: self._value(f"{config.id}/headers/{name}", value) for name, value in config.headers.items()},
        )

    def shown_values(self, config: ServerConfig) -> dict[str, str]:
        """The variables that are confirmed with the command: all but secrets."""
        values = self.readable(config).env
        return {name: values[name] for name in sorted(values) if not is_secret(name)}

    def filled_in(self, config: ServerConfig) -> dict[str, str]:
        """The hidden parts of a command; another one is confirmed again, though nobody sees it."""
        return {
            one.name: self._value(f"{config.id}/inputs/{one.name}", one.value)
            for one in config.placeholders
            if one.changes_the_command
        }

    def without_kept(self, config: ServerConfig) -> tuple[Placeholder, ...]:
        """Its placeholders as if no secret of before had been given."""
        return unfilled(config.placeholders, lambda name: f"{PREFIX}{config.id}/inputs/{name}")

    def rotate(self, config: ServerConfig) -> bool:
        """Whether any of its secrets is another than the one that is kept."""
        slots = {f"{config.id}/env/{name}": value for name, value in config.env.items()}
        slots |= {f"{config.id}/headers/{name}": value for name, value in config.headers.items()}
        slots |= {f"{config.id}/inputs/{one.name}": one.value for one in config.placeholders if one.is_filled}
        return any(value not in (PREFIX + slot, self._vault.reveal(PREFIX + slot)) for slot, value in slots.items())

    def _hidden(self, config: ServerConfig, kind: str, values: Mapping[str, str]) -> dict[str, str]:
        return {name: self._written(f"{config.id}/{kind}/{name}", value) for name, value in values.items()}

    def _hidden_input(self, config: ServerConfig, one: Placeholder) -> Placeholder:
        return replace(one, value=self._kept(f"{config.id}/inputs/{one.name}", one.value))

    def _kept(self, slot: str, value: str) -> str:
        return value and self._written(slot, value)

    def _written(self, slot: str, value: str) -> str:
        # Any other reference is taken as the letters it is: it must not reach another server's secret.
        return value if value == PREFIX + slot else self._vault.put(slot, value)

    def _value(self, slot: str, value: str) -> str:
        return self._vault.reveal(value) if value == PREFIX + slot else value
