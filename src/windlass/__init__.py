"""Windlass runs tool-calling turns between language models and MCP servers, and loses none of them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from windlass.version import VERSION as __version__

if TYPE_CHECKING:
    from windlass.api.schemas import Decision, PendingCall, Source, Turn
    from windlass.client import Approve, TurnEvent, Windlass, ask_sync
    from windlass.client.functions import tool
    from windlass.config import Config
    from windlass.config import load as load_config
    from windlass.core.errors import WindlassError

__all__ = [
    "Approve",
    "Config",
    "Decision",
    "PendingCall",
    "Source",
    "Turn",
    "TurnEvent",
    "Windlass",
    "WindlassError",
    "__version__",
    "ask_sync",
    "load_config",
    "tool",
]

# Found when first used: the demo's tools and `windlass --version` start in the time of the interpreter alone.
_MODULES = {
    **dict.fromkeys(("Approve", "TurnEvent", "Windlass", "ask_sync"), "client"),
    **dict.fromkeys(("Decision", "PendingCall", "Source", "Turn"), "api.schemas"),
    "Config": "config",
    "WindlassError": "core.errors",
    "load_config": "config",
    "tool": "client.functions",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'windlass' has no attribute {name!r}")
    return getattr(import_module(f"windlass.{_MODULES[name]}"), "load" if name == "load_config" else name)
