"""Values: made whole, compared by what they hold, never changed."""

import os
import sys
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")
FROZEN = "pytest" in sys.modules or bool(os.environ.get("WINDLASS_FROZEN"))


@dataclass_transform(frozen_default=True)
def value_object(cls: type[T]) -> type[T]:
    """A dataclass that nobody may write to. The type checker sees to that for every line here, and under pytest, or
    where WINDLASS_FROZEN is set, a write raises. Elsewhere it is not frozen at run time: a frozen dataclass sets each
    field by a call of its own, and a turn makes hundreds of values."""
    return dataclass(slots=True, unsafe_hash=True, frozen=FROZEN)(cls)
