"""Every rule, grant, chat and server setting that decides calls, as one list."""

import re
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Literal, cast

from msgspec import UNSET

from windlass.api import schemas
from windlass.servers import Servers
from windlass.toolbox import Toolbox
from windlass.toolbox.permission_rows import RevokedRule, SavedGrant
from windlass.toolbox.permissions import PolicyRule, chat_setting_id, server_setting_id, tool_setting_id
from windlass.turns.records import DeletedServers
from windlass.turns.views import iso

MOST_LISTED = 1000  # settings of chats; each chat that ever was may have some
FILE: Literal["windlass.toml"] = "windlass.toml"
Kind = Literal["rule", "grant", "conversation", "server", "tool"]
Effect = Literal["auto", "ask", "deny", "named"]
Source = Literal["windlass.toml", "policy", "decision", "conversation", "server", "built-in"]
_KINDS: dict[str, Kind] = {
    "file": "rule",
    "rule": "rule",
    "grant": "grant",
    "conversation": "conversation",
    "server": "server",
    "tool": "tool",
}


class PermissionListing:
    def __init__(
        self,
        toolbox: Toolbox,
        servers: Servers,
        deleted_servers: DeletedServers,
        lines: dict[str, int],
        approval_set: Callable[[str], tuple[str, float]],
    ) -> None:
        """`lines` are those of the operator's file, by the names of settings; `approval_set` tells who set the approval
        of a server, and when."""
        self._approval_set = approval_set
        self._toolbox = toolbox
        self._rows = toolbox.permissions
        self._servers = servers
        self._deleted_servers = deleted_servers
        self.lines = lines

    def all(self, server: str, tool: str, conversation_id: str) -> tuple[list[schemas.Permission], int]:
        """In the order in which they are tried, and how many settings of chats were left off. With a conversation,
        only what holds there, the tools that were just named included."""
        chats = list(self._of_chats(conversation_id))
        left_off = max(0, len(chats) - MOST_LISTED)
        found = [*self._of_rules(), *self._of_grants(conversation_id), *chats[:MOST_LISTED], *self._of_servers()]
        slug = self.slug(self._servers.status(server).config.id if server in self._servers else server)
        return [one for one in found if _concerns(one, slug if server else "", tool)], left_off

    def find(self, id: str) -> schemas.Permission | None:
        kind, _, rest = id.partition(":")
        chat = rest.partition(":")[0] if kind == "conversation" else ""
        found = self._of_chats(chat) if chat else [*self._of_rules(), *self._of_grants(""), *self._of_servers()]
        return next((one for one in found if one.id == id), None)

    def revoked(self, id: str) -> schemas.Permission | None:
        """A rule or grant that was revoked and can be restored, as it was listed."""
        match self._rows.revoked(id):
            case RevokedRule(rule=rule):
                return self._rule(rule, "policy")
            case SavedGrant() as saved:
                return self._grant(saved)
            case _:
                return None

    async def forget_chat_setting(self, id: str) -> None:
        chat = id.split(":")[1]
        for chat_id, row in self._toolbox.chat_settings(chat):
            if chat_setting_id(chat_id, row.server_id, row.tool) == id:
                await self._toolbox.forget_setting(chat_id, row)

    def slug(self, server_id: str) -> str:
        """Also of a server that is gone."""
        found = next((config.slug for config in self._servers.configs() if config.id == server_id), "")
        return found or self._deleted_servers.slugs.get(server_id) or server_id.removeprefix("server-")

    def _of_rules(self) -> Iterator[schemas.Permission]:
        for number, rule in enumerate(self._rows.operator_rules, 1):
            yield self._rule(rule, FILE, self.lines.get(f"policy.{number}", 0))
        for rule in self._rows.rules():
            yield self._rule(rule, "policy")

    def _rule(self, rule: PolicyRule, source: Source, line: int = 0) -> schemas.Permission:
        shown = self._shown(rule.id, "rule", rule.choice, rule.server, rule.tool, source)
        shown.by, shown.at = rule.by, _time(rule.at)
        shown.arguments = dict(rule.arguments) if rule.arguments else UNSET
        shown.expires_at = iso(rule.expires_at) if rule.expires_at else UNSET
        shown.name = rule.name or UNSET
        shown.line = line or UNSET
        return shown

    def _of_grants(self, conversation_id: str) -> Iterator[schemas.Permission]:
        now = time.time()
        for saved in self._rows.saved_grants():
            here = not conversation_id or saved.conversation_id in ("", conversation_id)
            if here and not 0 < saved.grant.expires_at <= now:
                yield self._grant(saved)

    def _grant(self, saved: SavedGrant) -> schemas.Permission:
        grant = saved.grant
        covers = grant.covers or "tool"
        tool = "*" if covers == "server" else self._toolbox.tool_granted(grant)
        shown = self._shown(grant.id, "grant", "auto", self.slug(grant.server), tool, "decision")
        shown.by, shown.at = grant.by, _time(grant.at)
        shown.covers = covers
        shown.hash = grant.tool_hash or UNSET
        shown.arguments = dict(grant.conditions) if grant.conditions else UNSET
        shown.expires_at = iso(grant.expires_at) if grant.expires_at else UNSET
        if saved.conversation_id:
            shown.scope, shown.conversation_id = "conversation", saved.conversation_id
        return shown

    def _of_servers(self) -> Iterator[schemas.Permission]:
        for config in self._servers.configs():
            source: Source = "built-in" if config.bundled else FILE if config.operator else "server"
            for tool, override in config.overrides.items():
                if override.approval:
                    id = tool_setting_id(config.slug, tool)
                    shown = self._shown(id, "tool", override.approval, config.slug, tool, source)
                    shown.line = self.lines.get(f"servers.{config.slug}.tools.{tool}.approval") or UNSET
                    yield shown
            if config.approval:
                id = server_setting_id(config.slug)
                shown = self._shown(id, "server", config.approval, config.slug, "*", source)
                shown.by, at = self._approval_set(config.id)
                shown.at = _time(at)
                shown.line = self.lines.get(f"servers.{config.slug}.approval") or UNSET
                yield shown

    def _of_chats(self, conversation_id: str) -> Iterator[schemas.Permission]:
        for chat_id, row in self._toolbox.chat_settings(conversation_id):
            effect = row.setting or ("named" if row.named else "")
            if row.enabled and (effect if conversation_id else row.setting):
                id = chat_setting_id(chat_id, row.server_id, row.tool)
                shown = self._shown(id, "conversation", effect, self.slug(row.server_id), row.tool, "conversation")
                shown.scope, shown.conversation_id = "conversation", chat_id
                shown.by, shown.at = row.by, _time(row.at)
                yield shown

    def _shown(self, id: str, kind: Kind, effect: str, server: str, tool: str, source: Source) -> schemas.Permission:
        used = self._rows.last_used(id)
        shown = schemas.Permission(
            id, kind, cast(Effect, effect), server, tool, "always", "", None, _time(used), source
        )
        counts = self._rows.counts(id)
        shown.uses = schemas.UsesCounted(counts.allowed, counts.asked, counts.stopped)
        return shown


def kind_of(id: str) -> Kind | Literal[""]:
    """The kind of a permission, which its id begins with."""
    kind = re.split("[-:]", id, maxsplit=1)[0]
    return _KINDS.get(kind, "")


def _concerns(one: schemas.Permission, server: str, tool: str) -> bool:
    return (not server or fnmatchcase(server, one.server)) and (tool in ("", one.tool) or fnmatchcase(tool, one.tool))


def _time(at: float) -> str | None:
    return iso(at) if at else None
