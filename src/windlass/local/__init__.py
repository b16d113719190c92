"""The verbs of the API, in process: shapes in, shapes out, errors of the core. HTTP only decodes and encodes around
them, so what the page can do a program can."""

from windlass.bus import Bus
from windlass.config import Config
from windlass.local.completions import Completions
from windlass.local.context import Context
from windlass.local.conversations import Conversations
from windlass.local.former import FormerServers
from windlass.local.house import HouseVerbs
from windlass.local.messages import Messages
from windlass.local.personas import Personas, PolicyVerbs
from windlass.local.providers import ProviderVerbs, patience_of
from windlass.local.records import Records
from windlass.local.search import SearchVerbs
from windlass.local.servers import ServerVerbs
from windlass.local.tidying import Tidying
from windlass.local.tools import Tools
from windlass.local.turns import Turns
from windlass.local.waiting import Waiting
from windlass.opening import Openings
from windlass.providers import Models
from windlass.runner import Runner
from windlass.searching import Searching
from windlass.servers import Servers
from windlass.store import Store
from windlass.telemetry import Telemetry
from windlass.toolbox import Toolbox
from windlass.vault import Vault
from windlass.version import VERSION

__all__ = ["Local"]


class Local:
    def __init__(
        self,
        *,
        config: Config,
        store: Store,
        bus: Bus,
        runner: Runner,
        openings: Openings,
        toolbox: Toolbox,
        servers: Servers,
        models: Models,
        searching: Searching,
        vault: Vault,
        telemetry: Telemetry,
    ) -> None:
        limits = config.limits
        former = FormerServers(store)
        records = Records(store, bus, servers, former, toolbox.questions)
        self.search = SearchVerbs(searching, models)
        self.context = Context(store)
        self.tools = Tools(store, toolbox, servers)
        self.messages = Messages(store, bus, records)
        self.servers = ServerVerbs(store, servers, toolbox, vault, former)
        self.providers = ProviderVerbs(store, models, vault, patience_of(limits))
        self.personas = Personas(store)
        self.conversations = Conversations(
            store, runner, records, self.context, self.tools, self.personas, self.providers
        )
        self.policy = PolicyVerbs(toolbox)
        self.tidying = Tidying(store, limits.keep_days)
        self.house = HouseVerbs(VERSION, limits, store, bus, runner, servers, telemetry, searching)
        self._answer_with(store, bus, runner, openings, toolbox, models, records)

    def _answer_with(
        self,
        store: Store,
        bus: Bus,
        runner: Runner,
        openings: Openings,
        toolbox: Toolbox,
        models: Models,
        records: Records,
    ) -> None:
        waiting = Waiting(bus, runner)
        self.turns = Turns(
            store=store,
            bus=bus,
            runner=runner,
            openings=openings,
            toolbox=toolbox,
            models=models,
            records=records,
            tools=self.tools,
            waiting=waiting,
        )
        self.v1 = Completions(
            store=store,
            runner=runner,
            openings=openings,
            models=models,
            records=records,
            tools=self.tools,
            waiting=waiting,
        )
