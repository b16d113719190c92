"""Names of an earlier edition, which still work: each warns once and names its successor."""

import warnings
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def renamed(old: str, method: Callable[P, R]) -> Callable[P, R]:
    warned: list[str] = []

    @wraps(method)
    def forward(*args: P.args, **kwargs: P.kwargs) -> R:
        if not warned:
            warned.append(old)
            warnings.warn(f"{old} is now called {method.__name__}.", DeprecationWarning, stacklevel=2)
        return method(*args, **kwargs)

    return forward
