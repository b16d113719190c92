"""The verbs of the API, in process: schemas in, schemas out, errors of the core. HTTP only decodes and encodes around
them, so what the page can do a program can."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, ParamSpec, TypeVar

from windlass.api import routes
from windlass.api.route import Route
from windlass.bus import Bus
from windlass.config import Config, LimitSettings
from windlass.core.errors import BadInput
from windlass.providers import Models
from windlass.runner import Runner
from windlass.servers import Servers
from windlass.services.approval_changes import ApprovalChanges
from windlass.services.audit import Audit
from windlass.services.completions import Completions
from windlass.services.context import Context
from windlass.services.conversations import Conversations
from windlass.services.gateway import Gateway
from windlass.services.limits import LimitsInForce
from windlass.services.live_check import LiveChecks
from windlass.services.messages import Messages
from windlass.services.offered import McpOffers
from windlass.services.permissions import Permissions
from windlass.services.personas import Personas
from windlass.services.policy import Policies
from windlass.services.providers import Providers, patience_of
from windlass.services.retention import Retention
from windlass.services.server_imports import ServerImports
from windlass.services.servers import McpServers
from windlass.services.sign_ins import SignIns
from windlass.services.system import SearchTests, System
from windlass.services.tools import ConversationTools
from windlass.services.turns import Turns
from windlass.store import Store
from windlass.store.vault import Vault
from windlass.telemetry import Telemetry
from windlass.toolbox import Toolbox, ToolBudget
from windlass.toolbox.search_backends import SearchBackends
from windlass.turns.records import DeletedServers, TurnRecords, TurnWaiter
from windlass.turns.setup import TurnBuilder
from windlass.version import VERSION

__all__ = ["Services"]

P = ParamSpec("P")
R = TypeVar("R")


class Services:
    def __init__(
        self,
        *,
        config: Config,
        store: Store,
        bus: Bus,
        runner: Runner,
        turn_builder: TurnBuilder,
        toolbox: Toolbox,
        servers: Servers,
        models: Models,
        search_backends: SearchBackends,
        vault: Vault,
        telemetry: Telemetry,
    ) -> None:
        limits = config.limits
        deleted_servers = DeletedServers(store)
        records = TurnRecords(store, bus, servers, deleted_servers, toolbox.questions, toolbox.unsent)
        self.search = SearchTests(search_backends, models)
        self.context = Context(store)
        self.tools = ConversationTools(store, toolbox, servers)
        self.messages = Messages(store, bus, records)
        self.servers = McpServers(store, servers, toolbox, vault, deleted_servers, config.home)
        self.server_imports = ServerImports(servers, self.servers)
        self.offered = McpOffers(servers, toolbox)
        self.sign_ins = SignIns(servers, self.servers)
        self.providers = Providers(store, models, vault, patience_of(limits), servers)
        self.live_checks = LiveChecks(models, search_backends)
        self.personas = Personas(store)
        self.conversations = Conversations(
            store, bus, runner, records, self.context, self.tools, self.personas, self.providers
        )
        self.policy = Policies(toolbox)
        self.approval_changes = ApprovalChanges(store, toolbox, servers)
        self.permissions = Permissions(store, bus, toolbox, servers, self.servers, deleted_servers, config.lines)
        self.retention = Retention(store, bus, limits.keep_days)
        self.limits = LimitsInForce(store, limits, config.limits_set, partial(self._use_limits, turn_builder, toolbox))
        self.system = System(VERSION, store, bus, runner, servers, telemetry, search_backends)
        self._build_turns(store, bus, runner, turn_builder, toolbox, models, records)
        self.gateway = Gateway(
            store=store,
            runner=runner,
            turn_builder=turn_builder,
            toolbox=toolbox,
            servers=servers,
            records=records,
            tools=self.tools,
            decide=lambda *given: self.method(routes.turns.decide)(*given),
            answer=lambda *given: self.method(routes.turns.answer)(*given),
            approve=config.gateway.approve,
        )
        self.audit = Audit(store, partial(_name_of, servers, models, self.permissions))
        self._methods = {
            route: self.audit.recording(route, method) if route.audit else method
            for service in list(vars(self).values())
            for route, method in _served_by(service)
        }

    def _use_limits(self, turn_builder: TurnBuilder, toolbox: Toolbox, limits: LimitSettings) -> None:
        turn_builder.limits = limits
        toolbox.budget = ToolBudget(limits.tools, limits.tool_tokens)
        self.providers.be_patient(patience_of(limits))
        self.retention.keep_days = limits.keep_days

    def method(self, route: Route[P, R]) -> Callable[P, Awaitable[R]]:
        """The service's method that answers a route. Some are answered by the HTTP server alone."""
        if route not in self._methods:
            raise BadInput(f"{route} works over HTTP only.", hint="Start `windlass serve` and use its address.")
        return self._methods[route]

    def _build_turns(
        self,
        store: Store,
        bus: Bus,
        runner: Runner,
        turn_builder: TurnBuilder,
        toolbox: Toolbox,
        models: Models,
        records: TurnRecords,
    ) -> None:
        waiting = TurnWaiter(bus, runner)
        self.turns = Turns(
            store=store,
            bus=bus,
            runner=runner,
            turn_builder=turn_builder,
            toolbox=toolbox,
            models=models,
            records=records,
            tools=self.tools,
            offered=self.offered,
            waiting=waiting,
        )
        self.v1 = Completions(
            store=store,
            runner=runner,
            turn_builder=turn_builder,
            models=models,
            records=records,
            tools=self.tools,
            waiting=waiting,
        )


def _served_by(service: object) -> Iterator[tuple[Route[..., Any], Callable[..., Any]]]:
    for name, member in vars(type(service)).items():
        for route in getattr(member, "routes", ()):
            yield route, getattr(service, name)


def _name_of(servers: Servers, models: Models, permissions: Permissions, kind: str, id: str) -> str:
    """For the audit; "" for what has no other name than its id, or is not there."""
    match kind:
        case "server":
            return next((config.slug for config in servers.configs() if id in (config.id, config.slug)), "")
        case "provider":
            return next((config.name for config in models.configs() if config.id == id), "")
        case "permission" if found := permissions.find(id) or permissions.revoked(id):
            return f"{found.effect} {found.server}.{found.tool}"
        case _:
            return ""
