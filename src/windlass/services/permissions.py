"""Permissions: the list of what decides calls, revoking, what one call would do, and a rule tried on past calls.
Whether a call runs is decided in `toolbox/permissions.py` alone."""

from msgspec import UNSET, json

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.bus import Bus
from windlass.core.errors import Conflict, NotFound
from windlass.core.events import CallJudged
from windlass.servers import Servers
from windlass.services.permission_list import FILE, PermissionListing, kind_of
from windlass.services.permission_replay import coverage, replayed, rules_with
from windlass.services.policy import rule_of
from windlass.services.servers import McpServers
from windlass.store import Store
from windlass.toolbox import Toolbox
from windlass.toolbox.offers import arguments_hash
from windlass.toolbox.permission_trace import TraceLayer
from windlass.toolbox.permissions import Grant, TrustLevel
from windlass.turns.records import DeletedServers

LIST = "GET /permissions lists them."


class Permissions:
    def __init__(
        self,
        store: Store,
        bus: Bus,
        toolbox: Toolbox,
        servers: Servers,
        mcp_servers: McpServers,
        deleted_servers: DeletedServers,
        lines: dict[str, int],
    ) -> None:
        self._store = store
        self._toolbox = toolbox
        self._servers = servers
        self._mcp_servers = mcp_servers
        self._listing = PermissionListing(toolbox, servers, deleted_servers, lines, mcp_servers.approval_set)
        bus.listen(CallJudged, self._judged)

    def set_lines(self, lines: dict[str, int]) -> None:
        """The operator's file was read again."""
        self._listing.lines = lines

    def find(self, permission_id: str) -> schemas.Permission | None:
        return self._listing.find(permission_id)

    @serves(routes.permissions.all)
    async def all(self, query: schemas.PermissionQuery) -> schemas.PermissionList:
        if query.conversation:
            self._store.conversations.get(query.conversation)
        found, left_off = self._listing.all(query.server, query.tool, query.conversation)
        return schemas.PermissionList(found, len(found), left_off)

    @serves(routes.permissions.delete)
    async def delete(self, permission_id: str) -> schemas.Acknowledged:
        """From now on it decides nothing, also in turns that run."""
        found = self._listing.find(permission_id)
        if found is None:
            raise NotFound(f"There is no permission {permission_id[:200]}.", hint=LIST)
        if found.source == FILE:
            at = f"{FILE}, line {found.line}" if found.line else FILE
            hint = f"Change it there: {at}. Then send Windlass a SIGHUP, or restart it."
            raise Conflict(f"This is set in {at}.", hint=hint, code="from_config", detail={"line": found.line or None})
        if found.source == "built-in":
            hint = f"A rule for {found.server}.{found.tool} comes before it. GET /policy shows the rules."
            raise Conflict("This comes with the demo and cannot be revoked.", hint=hint, code="from_config")
        match found.kind:
            case "rule" | "grant":
                await self._toolbox.permissions.revoke(permission_id)
            case "server" | "tool":
                await self._mcp_servers.change(found.server, schemas.ServerChange(approval=None))
            case "conversation":
                await self._listing.forget_chat_setting(permission_id)
        return schemas.Acknowledged(message="Revoked")

    def revoked(self, permission_id: str) -> schemas.Permission | None:
        """A rule or grant that was revoked since this start and can be restored."""
        return self._listing.revoked(permission_id)

    def can_restore_grants_of(self, server_id: str) -> bool:
        return any(saved.grant.server == server_id for saved in self._toolbox.permissions.revoked_grants())

    @serves(routes.permissions.restore)
    async def restore(self, permission_id: str) -> schemas.Acknowledged:
        """The same rule or grant, under its id and with its author; nothing of it can be changed on the way."""
        if not await self._toolbox.permissions.restore(permission_id):
            raise NotFound(
                f"{permission_id[:200]} was not revoked since Windlass started, or its chat is gone.",
                hint="Allow the tool again on its next card, or write the rule again.",
            )
        return schemas.Acknowledged(message="Restored")

    @serves(routes.permissions.test)
    async def test(self, call: schemas.PermissionTest) -> schemas.PermissionVerdict:
        if call.conversation_id:
            self._store.conversations.get(call.conversation_id)
        arguments = json.encode(call.arguments).decode()
        trial = self._toolbox.tried(call.conversation_id, call.server, call.tool, arguments)
        judged = trial.judged
        return schemas.PermissionVerdict(
            judged.verdict,
            judged.reason or judged.rule,
            judged.step,
            kind_of(judged.permission),
            trial.spec.kind,
            trial.enabled,
            judged.permission or UNSET,
            [_layer(one) for one in trial.layers],
            judged.outside,
        )

    @serves(routes.permissions.replay)
    async def replay(self, request: schemas.Replay) -> schemas.Replayed:
        rows = self._toolbox.permissions
        saved = [rule for rule in rows.rules() if rule.id != request.replaces]
        rules = rules_with(rule_of(request.rule), rows.operator_rules, saved, request.position)
        calls = await self._store.past_calls(request.last)
        judged = self._toolbox.rejudging(rules)
        return await replayed(
            calls,
            rules,
            self._trust_in,
            request.replaces,
            lambda past: judged(past.conversation_id, past.spec, past.call),
        )

    @serves(routes.permissions.coverage)
    async def coverage(self, tried: schemas.GrantTried) -> schemas.GrantCoverage:
        server_id = self._servers.status(tried.server).config.id
        exactly = json.encode(tried.arguments).decode() if isinstance(tried.arguments, dict) else ""
        grant = Grant(
            tried.hash,
            arguments_hash=arguments_hash(exactly) if exactly else "",
            server=server_id,
            covers="arguments" if exactly else "tool",
            tool=tried.tool,
            conditions=tried.conditions or None,
        )
        calls = await self._store.past_calls(
            tried.last, lambda spec: (spec.server, spec.tool) == (server_id, tried.tool)
        )
        return coverage(grant, calls, self._listing.slug(server_id))

    def _trust_in(self, server_id: str) -> TrustLevel:
        trusted = server_id in self._servers and self._servers.config(server_id).trusted
        return TrustLevel(self._listing.slug(server_id), trusted)

    def _judged(self, turn_id: str, judged: CallJudged) -> None:
        if judged.permission:
            self._toolbox.permissions.used(judged.permission, judged.verdict)


def _layer(one: TraceLayer) -> schemas.PermissionLayer:
    return schemas.PermissionLayer(one.layer, one.choice, one.text, one.decides, one.permission or UNSET)
