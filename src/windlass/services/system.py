"""The server itself: health, metrics, and whether the web can be searched."""

from collections import Counter

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.bus import Bus
from windlass.core.errors import DiskFull, ModelError, Unavailable
from windlass.providers import Models
from windlass.runner import Runner
from windlass.servers import Servers
from windlass.store import Store
from windlass.telemetry import LoopLag, Telemetry
from windlass.toolbox.search_backends import SearchBackends


class System:
    def __init__(
        self,
        version: str,
        store: Store,
        bus: Bus,
        runner: Runner,
        servers: Servers,
        telemetry: Telemetry,
        search_backends: SearchBackends,
    ) -> None:
        self._version = version
        self._store = store
        self._bus = bus
        self._runner = runner
        self._servers = servers
        self._telemetry = telemetry
        self._search_backends = search_backends

    @serves(routes.system.health)
    async def health(self) -> schemas.Health:
        return schemas.Health("ok", self._version)

    @serves(routes.system.search)
    async def search(self) -> schemas.SearchState:
        config = self._search_backends.config
        try:
            problem = self._search_backends.problem()
        except ModelError as error:
            problem = error.message
        return schemas.SearchState(config.backend, config.prefix, not problem, problem)

    @serves(routes.system.ready)
    async def ready(self) -> schemas.Ready:
        if self._runner.draining:
            raise Unavailable("Windlass is shutting down.", hint="Try again in a moment.", code="shutting_down")
        try:
            await self._store.check()
            await self._store.check_space()
        except DiskFull as error:  # for a probe this is "not ready", as any other reason
            raise Unavailable(error.message, hint=error.hint, code=error.code) from None
        waiting = [turn for turn in self._store.conversations.unfinished() if turn.state == "awaiting_person"]
        states = self._states()
        return schemas.Ready(
            "ready", self._version, self._runner.running, len(waiting), self._bus.watchers, dict(states)
        )

    def _states(self) -> Counter[str]:
        return Counter(str(status.state) for status in self._servers.statuses())

    @serves(routes.system.metrics)
    async def metrics(self) -> str:
        states = self._states()
        lines = [
            *(_counter(name, count) for name, count in sorted(self._telemetry.counts.items())),
            _gauge("running_turns", self._runner.running),
            _gauge("watchers", self._bus.watchers),
            "# TYPE windlass_servers gauge",
            *(f'windlass_servers{{status="{state}"}} {count}' for state, count in sorted(states.items())),
            *_histogram(
                "loop_lag_seconds", "How late the event loop is, looked at by a timer.", self._telemetry.loop_lag
            ),
        ]
        return "\n".join(lines) + "\n"


def _counter(name: str, value: int) -> str:
    return f"# TYPE windlass_{name}_total counter\nwindlass_{name}_total {value}"


def _gauge(name: str, value: int) -> str:
    return f"# TYPE windlass_{name} gauge\nwindlass_{name} {value}"


def _histogram(name: str, meaning: str, lag: LoopLag) -> list[str]:
    return [
        f"# HELP windlass_{name} {meaning}",
        f"# TYPE windlass_{name} histogram",
        *(f'windlass_{name}_bucket{{le="{bound}"}} {count}' for bound, count in lag.buckets()),
        f"windlass_{name}_sum {lag.sum_s:.6f}",
        f"windlass_{name}_count {lag.count}",
    ]


class SearchTests:
    def __init__(self, search_backends: SearchBackends, models: Models) -> None:
        self._search_backends = search_backends
        self._models = models

    @serves(routes.search.test)
    async def test(self, wanted: schemas.SearchTest) -> schemas.SearchTrials:
        """Each backend that a turn of the default provider may use, by itself."""
        found = await self._search_backends.for_provider(self._models.config()).trials(wanted.query)
        trials = [
            schemas.SearchTrial(
                trial.backend, trial.works, trial.message, [schemas.SearchHit(hit.title, hit.url) for hit in trial.hits]
            )
            for trial in found
        ]
        return schemas.SearchTrials(trials, len(trials))
