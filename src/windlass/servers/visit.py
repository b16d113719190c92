"""A short visit to a remote MCP server that nobody configured: connect, look at its tools, call, leave."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from windlass.core.errors import Unavailable, WindlassError
from windlass.servers.connection import load
from windlass.servers.stdio import StdioProcess
from windlass.servers.values import CallDeadline, CallResult, ServerConfig, ToolDefinition

if TYPE_CHECKING:
    from windlass.servers.session import Session

T = TypeVar("T")


class Visit:
    def __init__(self, config: ServerConfig, session: "Session", tools: tuple[ToolDefinition, ...]) -> None:
        self.tools = tools
        self._config = config
        self._session = session

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallResult:
        deadline = CallDeadline(self._config.timeout_s, self._config.longest_s)
        return await self._session.call(tool, arguments, key="", call=deadline, on_progress=None)


async def visit(url: str, headers: Mapping[str, str], use: Callable[[Visit], Awaitable[T]]) -> T:
    """What `use` gives, over streamable HTTP. Raises `Unavailable` where the server cannot be used, and every error of
    ours that `use` raises as it is: the SDK would wrap one that leaves its session."""
    config = ServerConfig("visit", "visit", transport="http", url=url)
    loaded = await load()
    outcome: T | WindlassError | None = None
    try:
        async with loaded.open_session(config, headers, _no_process, on_changed=_ignore, on_lost=_ignore) as session:
            try:
                outcome = await use(Visit(config, session, await session.tools()))
            except WindlassError as error:
                outcome = error
    except WindlassError:
        raise
    except Exception as error:  # the SDK and its transports fail in their own ways
        if outcome is None:
            raise Unavailable(f"It could not be reached: {_first_line(error)}") from error
    if isinstance(outcome, WindlassError):
        raise outcome
    assert outcome is not None  # noqa: S101 - without one, an error was raised
    return outcome


def _first_line(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error).partition("\n")[0] or type(error).__name__


def _no_process(*_: object) -> StdioProcess:
    raise AssertionError("a remote server has no process")


def _ignore(*_: object) -> None:
    """A visit is over before a change or a loss matters."""
