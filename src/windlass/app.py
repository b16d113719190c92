"""Builds and wires everything. The only file that knows all the others."""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from windlass import config as settings
from windlass import demo
from windlass.bus import Bus
from windlass.config import Config
from windlass.core.ports import Model
from windlass.core.values import value_object
from windlass.providers import (
    DEMO,
    DEMO_MODEL,
    KeptMedia,
    MediaBudget,
    Models,
    ModelSetting,
    ProviderConfig,
    chat_models,
    detect_local,
)
from windlass.runner import Runner
from windlass.servers import Isolation, SandboxRules, ServerConfig, Servers, ToolOverride
from windlass.services import Services
from windlass.services.providers import patience_of
from windlass.services.servers import ServerIdentities
from windlass.services.sign_ins import VaultCredentials
from windlass.store import Store
from windlass.store.redaction import Redactor, secrets_among
from windlass.store.vault import Vault
from windlass.telemetry import Telemetry, redact_lines
from windlass.toolbox import Function, Toolbox, ToolBudget, input_needed
from windlass.toolbox.kept_media import read_media
from windlass.toolbox.permissions import PolicyRule
from windlass.toolbox.search_backends import SearchBackends
from windlass.turns.setup import TurnBuilder
from windlass.version import VERSION
from windlass.web.addresses import is_everywhere, machine_names
from windlass.web.auth import Access
from windlass.web.guard import RequestGuard
from windlass.web.origin import Reach, reach_of
from windlass.web.server import build, check_base

OWN = "own"
GRACE_S = 20
PURGE_S = 3600.0
logger = logging.getLogger("windlass")


@value_object
class App:
    """An open Windlass, used by a server, a command or a program."""

    config: Config
    store: Store
    bus: Bus
    models: Models
    servers: Servers
    toolbox: Toolbox
    runner: Runner
    vault: Vault
    redactor: Redactor
    telemetry: Telemetry
    services: Services

    @property
    def answers_as_demo(self) -> bool:
        """The demo model is the default: no other is configured or found."""
        return self.models.config().wire == DEMO

    def asgi(self, access: Access | None = None) -> RequestGuard:
        """The HTTP server's application; without `access` it answers every request of this process."""
        config = self.config
        hosts, reach = names_of(config)
        return build(
            self.services,
            access or Access(config.home, token=config.token, open_to_all=True),
            version=VERSION,
            hosts=hosts,
            reach=reach,
            most_body=config.limits.body_bytes,
            most_import=config.limits.import_bytes,
            requests_min=config.limits.requests_min,
        )


@asynccontextmanager
async def open_app(
    config: Config,
    *,
    functions: Sequence[Function] = (),
    model: Model | None = None,
    recover: bool = True,
    grace_s: float = GRACE_S,
) -> AsyncIterator[App]:
    """Only one process may have a data folder open. With `recover`, every unfinished turn is run on. A `model` of the
    program's own answers unless a turn names another."""
    bus = Bus(lambda conversation_id, after: store.conversations.events_after(conversation_id, after))
    store = Store(config.home, durability=config.durability, publish=bus.committed)
    async with AsyncExitStack() as closing:  # each part is closed although another failed or the caller was cancelled
        closing.push_async_callback(store.close)
        app = await _build(config, store, bus, functions)
        closing.push_async_callback(app.toolbox.permissions.flush)
        closing.callback(app.telemetry.loop_lag.stop)
        app.telemetry.loop_lag.start()
        closing.push_async_callback(app.models.aclose)
        closing.push_async_callback(app.servers.aclose)
        closing.push_async_callback(app.services.sign_ins.aclose)
        closing.push_async_callback(app.services.gateway.aclose)
        closing.push_async_callback(app.runner.drain, grace_s)
        if model:
            app.models.use(OWN, model)
            app.models.default = OWN
        await _load_saved(app)
        _publish_open_questions(app)
        if recover:
            app.runner.recover()
        retention = asyncio.create_task(_purge_hourly(app))
        closing.callback(retention.cancel)
        yield app


def _publish_open_questions(app: App) -> None:
    """Questions asked before this start, for the watchers of now."""
    unfinished = {turn.id for turn in app.store.conversations.unfinished()}
    for kept in app.toolbox.questions.left():
        if kept.turn_id in unfinished:
            app.bus.emit(kept.conversation_id, kept.turn_id, input_needed(kept.call_id, kept.question))


async def _purge_hourly(app: App) -> None:
    """At the start, and then every hour."""
    while True:
        try:
            await app.services.retention.purge()
        except sqlite3.DatabaseError as error:
            logger.error("Purging old data failed: windlass.db cannot be read: %s", error)
        except Exception:  # the root of this task; the next purge is in an hour
            logger.exception("Purging old data failed")
        await asyncio.sleep(PURGE_S)


async def _build(config: Config, store: Store, bus: Bus, functions: Iterable[Function]) -> App:
    redactor = Redactor()
    redactor.learn(configured_secrets(config))
    vault = Vault(config.home / "secrets.json", on_change=lambda: redactor.learn(kept_secrets(vault)))
    redactor.learn(kept_secrets(vault))
    redact_lines(redactor.text)
    models = Models(redact=redactor.text, media=KeptMedia(partial(read_media, store), media_budget(config.limits)))
    servers = Servers(
        on_change=lambda server_id: toolbox.servers_changed(),
        reveal=vault.reveal,
        redaction=redactor,
        identities=ServerIdentities(store),
        prepare=lambda config, tools, program: toolbox.offers.prepare(config, tools, program),
        isolation=Isolation(config.home, hidden=config.files),
        credentials=VaultCredentials(vault),
        open_to_all=not config.auth,
    )
    search_backends = SearchBackends(config.web_search, models, servers, config.secret)
    limits = config.limits
    budget = ToolBudget(limits.tools, limits.tool_tokens)
    toolbox = Toolbox(store, servers, search_backends.for_turn, policy_of(config), limits.result_chars, budget)
    for function in functions:
        toolbox.functions.add(function)
    turn_builder = TurnBuilder(store, models, toolbox, limits, config.web_search)
    runner = Runner(store, bus, models, toolbox, at_once=config.limits.at_once)
    telemetry = Telemetry(bus)
    services = Services(
        config=config,
        store=store,
        bus=bus,
        runner=runner,
        turn_builder=turn_builder,
        toolbox=toolbox,
        servers=servers,
        models=models,
        search_backends=search_backends,
        vault=vault,
        telemetry=telemetry,
    )
    return App(config, store, bus, models, servers, toolbox, runner, vault, redactor, telemetry, services)


async def _load_saved(app: App) -> None:
    """Everything that was configured or kept; servers start in the background."""
    for provider in configured_providers(app.config):
        app.models.put(provider)
    app.services.providers.load()
    if not app.models.configs():
        app.models.put(await _found_or_demo(app.config))
    app.services.limits.load()
    for server in configured_servers(app.config):
        await app.servers.put(server)
    await app.services.servers.load()
    await app.services.conversations.load()
    await app.services.v1.load()
    await app.services.approval_changes.load()
    if app.answers_as_demo:
        await app.servers.put(demo_server(app.config))
    app.servers.start_all(but=app.services.servers.unwanted())


def names_of(config: Config) -> tuple[list[str], Reach]:
    """The names that requests may use for this server, and what the settings say about proxies."""
    reach = reach_of(config.public_url, config.trusted_proxies)
    check_base(reach.base)
    own: list[str] = []
    if not config.on_loopback:
        own = machine_names() if is_everywhere(config.host) else [config.host]
    return [*own, *config.allow_hosts], reach


def configured_secrets(config: Config) -> Iterator[tuple[str, str]]:
    """Those of the operator's file and environment, by name; references are resolved."""
    yield "WINDLASS_TOKEN", config.token
    yield from ((f"web_search.{name}", config.secret(key)) for name, key in config.web_search.keys.items() if key)
    for provider in config.providers:
        yield f"api_key of {provider.name or provider.base_url}", provider.api_key
    for server in configured_servers(config):
        yield from secrets_among(server.env.items(), server.headers.items())
        if server.client_secret:
            yield f"client_secret of {server.slug}", server.client_secret


def kept_secrets(vault: Vault) -> Iterator[tuple[str, str]]:
    """Those given over the API. Slots are `provider/ID`, and `SERVER/` with `env/NAME`, `headers/NAME`, `client/secret`
    and `oauth/NAME`, of which `record` holds nothing secret."""
    for slot, value in vault.items():
        owner, _, kind = slot.partition("/")
        kind, _, name = kind.partition("/")
        if kind == "env":
            yield from secrets_among([(name, value)], ())
        elif kind == "headers":
            yield from secrets_among((), [(name, value)])
        elif (kind, name) != ("oauth", "record") and value:
            yield f"{owner} key", value


def configured_providers(config: Config) -> list[ProviderConfig]:
    if config.demo:
        return [demo_provider()]
    return [
        ProviderConfig(
            provider.name or f"provider-{number}",
            provider.name or f"Provider {number}",
            provider.base_url,
            provider.api_key,
            provider.model,
            provider.temperature,
            provider.profile,
            wire=provider.wire,
            ca_file=provider.ca_file,
            patience=patience_of(config.limits),
            fallback=tuple(provider.fallback),
            model_settings=_model_settings(provider),
        )
        for number, provider in enumerate(config.providers, 1)
    ]


def _model_settings(provider: settings.ProviderSettings) -> tuple[ModelSetting, ...]:
    single = (ModelSetting(name, one.images, one.audio) for name, one in provider.models.items())
    return (*single, ModelSetting("*", provider.images, provider.audio))


async def _found_or_demo(config: Config) -> ProviderConfig:
    """Without a configured model: one that runs on this machine, else the demo."""
    for found in await detect_local():
        for model in chat_models(found.models)[:1]:
            patience = patience_of(config.limits)
            return ProviderConfig("local", found.name, found.base_url, model=model, patience=patience)
    return demo_provider()


def demo_provider() -> ProviderConfig:
    return ProviderConfig(DEMO, "Demo model", model=DEMO_MODEL, wire=DEMO)


def demo_server(config: Config) -> ServerConfig:
    """The tools of the demo, run over stdio like any other server's. What is not there when it starts cannot be opened
    to it."""
    (config.home / "notes").mkdir(parents=True, exist_ok=True)
    command, *args = demo.command(config.home / "notes")
    return ServerConfig(
        "server-demo",
        demo.SLUG,
        demo.NAME,
        command=command,
        args=tuple(args),
        tools="*",
        trusted=True,
        operator=True,
        bundled=True,
        overrides={"write_note": ToolOverride(approval="ask")},
        sandbox_rules=SandboxRules(write=(str(config.home / "notes"),)),
    )


def configured_servers(config: Config) -> list[ServerConfig]:
    """Servers of the operator's own file need no confirmation."""
    return [_server(slug, server, config) for slug, server in config.servers.items()]


def _server(slug: str, server: settings.ServerSettings, config: Config) -> ServerConfig:
    tools = ("" if isinstance(server.tools, dict) else server.tools) or server.enabled
    single: Mapping[str, settings.ToolSettings] = server.tools if isinstance(server.tools, dict) else {}
    return ServerConfig(
        f"server-{slug}",
        slug,
        server.name or slug,
        transport=server.transport or ("http" if server.url else "stdio"),
        command=server.command,
        args=tuple(server.args),
        env={name: config.secret(value) for name, value in server.env.items()},
        cwd=server.cwd,
        url=server.url,
        headers={name: config.secret(value) for name, value in server.headers.items()},
        auth=server.auth,
        client_id=server.client_id,
        client_secret=config.secret(server.client_secret),
        scopes=server.scopes if isinstance(server.scopes, str) else " ".join(server.scopes),
        issuer=server.issuer,
        client_metadata_url=server.client_metadata_url,
        trusted=server.trusted,
        approval=server.approval or "",
        tools=tools if isinstance(tools, str) else ",".join(tools),
        overrides={name: _override(one) for name, one in single.items()},
        timeout_s=server.timeout_s,
        longest_s=server.progress_s,
        retries=server.retries,
        parallel=server.parallel,
        sandbox=server.sandbox,
        sandbox_rules=_inside(slug, server.inside, config.home),
        operator=True,
        pin=server.pin,
        instructions=server.instructions,
    )


def _inside(slug: str, inside: settings.SandboxSettings, home: Path) -> SandboxRules:
    kept = str(home / "sandboxes" / slug) if inside.keep_home else ""
    return SandboxRules(
        tuple(inside.read), tuple(inside.write), inside.network, kept, inside.memory_mib, inside.processes
    )


def _override(tool: settings.ToolSettings) -> ToolOverride:
    return ToolOverride(tool.timeout_s, tool.retries, tool.approval or "", tool.class_ or "")


def media_budget(limits: settings.LimitSettings) -> MediaBudget:
    return MediaBudget(limits.pictures, limits.picture_bytes, limits.pictures_bytes)


def policy_of(config: Config) -> list[PolicyRule]:
    return [_rule(rule) for rule in config.policy]


def _rule(rule: settings.RuleSettings) -> PolicyRule:
    return PolicyRule(
        rule.approval,
        rule.server,
        rule.tool,
        arguments=rule.arguments or None,
        other_arguments=rule.other_arguments,
    )
