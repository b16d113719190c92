"""What asks since the second edition and did not before: said once, when the server first starts on a data folder of
the first edition."""

from collections.abc import Iterator

from windlass.core.values import value_object
from windlass.servers import ServerConfig, Servers
from windlass.store import Documents, Store
from windlass.toolbox import Toolbox
from windlass.toolbox.permissions import all_enabled_notice

ROW = "approval"
NAMED_NOW = (
    "Tools of existing chats that were enabled by name, or set to run by the page of 0.1.0, ask if they change or send "
    "something, once their chat has read text from outside (%d tools, readers included)."
)
RULES_NOW = (
    "A rule that says auto now comes before `ask` of a chat, a tool or a server; one with `arguments` allows further "
    "arguments only with other_arguments = true. `windlass permissions list` shows these rules (%d)."
)
GRANTS_KEPT = (
    "Lasting approvals are kept (%d): `windlass permissions list` shows them, `windlass permissions revoke` ends one."
)

ISOLATED_NOW = (
    "Servers of windlass.toml run isolated from now on (%s): each starts in a folder of its own, and credentials are "
    'out of reach. docs/isolation.md says what that means; sandbox = "off" under [servers.NAME] switches it off.'
)


@value_object
class UpgradeNotice:
    announced: bool = False


class ApprovalChanges:
    def __init__(self, store: Store, toolbox: Toolbox, servers: Servers) -> None:
        self._of_first_edition = store.of_first_edition
        self._toolbox = toolbox
        self._servers = servers
        self._rows: Documents[UpgradeNotice] = store.documents("upgrade_notice", UpgradeNotice)

    async def load(self) -> None:
        """Whichever program opens the folder first; a command prints nothing, so the server says it later."""
        if self._of_first_edition and self._rows.get(ROW) is None:
            await self._rows.put(ROW, UpgradeNotice())

    async def announce(self) -> list[str]:
        """The lines to print, and none the next time."""
        notice = self._rows.get(ROW)
        if notice is None or notice.announced:
            return []
        await self._rows.put(ROW, UpgradeNotice(announced=True))
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        for config in self._servers.configs():
            if _asks_now(config):
                yield all_enabled_notice(config.slug)
        if isolated := [config.slug for config in self._servers.configs() if _is_isolated_now(config)]:
            yield ISOLATED_NOW % ", ".join(isolated)
        permissions = self._toolbox.permissions
        rules = [rule for rule in (*permissions.operator_rules, *permissions.rules()) if rule.choice == "auto"]
        named = [row for _, row in self._toolbox.chat_settings() if row.enabled and not row.setting]
        for text, count in (
            (NAMED_NOW, len(named)),
            (RULES_NOW, len(rules)),
            (GRANTS_KEPT, len(permissions.saved_grants())),
        ):
            if count:
                yield text % count


def _asks_now(config: ServerConfig) -> bool:
    """A server of the operator's file whose tools are enabled by a pattern, with nothing said about approval."""
    by_pattern = any(set(name) & set("*?[") for name in config.enabled_tools)
    return config.operator and not config.bundled and not config.approval and by_pattern


def _is_isolated_now(config: ServerConfig) -> bool:
    """What was added over the API is named by itself, when its row is read."""
    is_of_file = config.operator and not config.bundled and config.transport == "stdio"
    return is_of_file and config.wanted_sandbox == "default"
