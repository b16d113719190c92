"""Values: made whole, compared by what they hold, never changed."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value_object(cls: type[T]) -> type[T]:
    """A dataclass that nobody may write to. The type checker sees to that for every line here; at run time a frozen one
    would set each field by a call of its own, and a turn makes hundreds of them."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
